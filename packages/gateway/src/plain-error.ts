/** Errors of paths that are no method of the API: the same words, without protobuf around them. */
import { codeToHttpStatus, codeToString } from '@connectrpc/connect/protocol-connect';
import { reasonName, wireErrorOf } from './error-map.js';

export interface PlainError {
  readonly status: number;
  readonly body: { readonly code: string; readonly message: string; readonly reason?: string; readonly field?: string };
}

export function plainError(error: unknown): PlainError {
  const { code, reason, field, message } = wireErrorOf(error);
  return { status: codeToHttpStatus(code), body: { code: codeToString(code), reason: reasonName(reason), field, message } };
}
