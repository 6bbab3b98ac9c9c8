/**
 * The one place where an error becomes what a client is told: a reason, a Connect code, a field, a sentence. The sentence is
 * made from the error's detail alone, so that no message of the store, no key name and no stack ever leaves the process.
 */

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { codeToString } from '@connectrpc/connect/protocol-connect';
import { type AnyQimError, type ErrorCode, type ErrorDetails, isQimError, QimError } from '@qim/proto';
import { ErrorDetailSchema, ErrorReason, ErrorReasonSchema, type FrameError, FrameErrorSchema } from '@qim/proto/schema';

interface Mapping<Key extends ErrorCode> {
  readonly reason: ErrorReason;
  readonly code: Code;
  readonly message: (detail: ErrorDetails[Key]) => string;
}

export const ERROR_MAP: { readonly [Key in ErrorCode]: Mapping<Key> } = {
  InvalidArgument: {
    reason: ErrorReason.INVALID_ARGUMENT,
    code: Code.InvalidArgument,
    message: ({ field, allowed }) => `${field} must be ${allowed}`,
  },
  PayloadTooLarge: {
    reason: ErrorReason.PAYLOAD_TOO_LARGE,
    code: Code.InvalidArgument,
    message: ({ field, bytesMax }) => `${field} must be at most ${bytesMax} bytes`,
  },
  Unauthenticated: { reason: ErrorReason.UNAUTHENTICATED, code: Code.Unauthenticated, message: () => 'a valid token is needed' },
  TokenExpired: { reason: ErrorReason.TOKEN_EXPIRED, code: Code.Unauthenticated, message: () => 'the token has expired' },
  NotMember: { reason: ErrorReason.NOT_MEMBER, code: Code.NotFound, message: () => 'no such conversation' },
  Forbidden: { reason: ErrorReason.FORBIDDEN, code: Code.PermissionDenied, message: ({ needs }) => `this needs ${needs}` },
  NotFound: { reason: ErrorReason.NOT_FOUND, code: Code.NotFound, message: () => 'no such message' },
  IdempotencyConflict: {
    reason: ErrorReason.IDEMPOTENCY_CONFLICT,
    code: Code.AlreadyExists,
    message: () => 'this clientMessageId was used before for other content',
  },
  MessageFinal: {
    reason: ErrorReason.MESSAGE_FINAL,
    code: Code.FailedPrecondition,
    message: () => 'the message was recalled or deleted and never changes again',
  },
  RecallWindowPassed: {
    reason: ErrorReason.RECALL_WINDOW_PASSED,
    code: Code.FailedPrecondition,
    message: ({ windowMs }) => `a sender may recall within ${windowMs} ms`,
  },
  Aborted: { reason: ErrorReason.ABORTED, code: Code.Aborted, message: () => 'others changed it at the same time; retry' },
  ResourceLimit: {
    reason: ErrorReason.RESOURCE_LIMIT,
    code: Code.ResourceExhausted,
    message: ({ what, limit }) => `at most ${limit} ${what}`,
  },
  RateLimited: {
    reason: ErrorReason.RATE_LIMITED,
    code: Code.ResourceExhausted,
    message: ({ retryAfterMs }) => `too many requests; retry after ${retryAfterMs} ms`,
  },
  CorruptRecord: { reason: ErrorReason.CORRUPT_RECORD, code: Code.DataLoss, message: ({ reason }) => `stored data is damaged: ${reason}` },
  UnsupportedVersion: {
    reason: ErrorReason.UNSUPPORTED_VERSION,
    code: Code.DataLoss,
    message: () => 'a stored record has a newer version than this server reads',
  },
  StoreUnavailable: {
    reason: ErrorReason.STORE_UNAVAILABLE,
    code: Code.Unavailable,
    message: () => 'no answer could be had; whether a write happened is unknown: retry with the same id',
  },
  Unimplemented: { reason: ErrorReason.UNIMPLEMENTED, code: Code.Unimplemented, message: ({ what }) => `not available here: ${what}` },
  Internal: { reason: ErrorReason.INTERNAL, code: Code.Internal, message: () => 'a fault of the server' },
};

/** An error as it goes over the wire, whatever the transport. */
export interface WireError {
  readonly reason: ErrorReason;
  readonly code: Code;
  /** In lowerCamelCase; empty: no field is at fault. */
  readonly field: string;
  readonly message: string;
  /** 0: not said. */
  readonly retryAfterMs: number;
}

/** Any failure as one of ours: what is not becomes Internal, with itself as the cause for the log. */
export function qimErrorOf(error: unknown): AnyQimError {
  if (isQimError(error)) return error;
  return new QimError('Internal', {}, 'a fault of the server', { cause: error });
}

export function wireErrorOf(error: unknown): WireError {
  const known = qimErrorOf(error);
  const mapping = ERROR_MAP[known.code];
  return {
    reason: mapping.reason,
    code: mapping.code,
    field: known.code === 'InvalidArgument' || known.code === 'PayloadTooLarge' ? known.detail.field : '',
    message: messageOf(known),
    retryAfterMs: known.code === 'RateLimited' ? known.detail.retryAfterMs : 0,
  };
}

function messageOf<Key extends ErrorCode>(error: { readonly code: Key; readonly detail: ErrorDetails[Key] }): string {
  return ERROR_MAP[error.code].message(error.detail);
}

/** With the typed detail; `retry-after` is in whole seconds, as HTTP has it. */
export function connectErrorOf(error: unknown): ConnectError {
  const { reason, code, field, message, retryAfterMs } = wireErrorOf(error);
  const headers = retryAfterMs > 0 ? { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) } : {};
  return new ConnectError(message, code, headers, [{ desc: ErrorDetailSchema, value: { reason, field } }]);
}

export function frameErrorOf(error: unknown): FrameError {
  const { reason, code, field, message, retryAfterMs } = wireErrorOf(error);
  return create(FrameErrorSchema, { code: codeToString(code), reason: reasonName(reason), field, message, retryAfterMs });
}

export function reasonName(reason: ErrorReason): string {
  return ErrorReasonSchema.value[reason]?.name ?? 'ERROR_REASON_UNSPECIFIED';
}
