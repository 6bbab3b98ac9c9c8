/**
 * Every way a call can fail, and what the failure carries. One class, narrowed by `code`; never branch on a message.
 * A new key here turns each table over the codes into a type error until it is handled.
 */
import type { ConversationId, ConversationSeq, TenantId } from './id-types.js';

/** What was wrong with a stored thing. */
export type CorruptReason =
  | 'factsMissing'
  | 'factsUnreadable'
  | 'indexMissing'
  | 'indexMemberInvalid'
  | 'indexBehindFacts'
  | 'indexOutOfOrder'
  | 'chainBroken'
  | 'recordMissing'
  | 'recordUnreadable'
  | 'recordMismatch'
  | 'recordUnexpected'
  | 'bodyMissing'
  | 'bodyUnreadable'
  | 'reactionsUnreadable'
  | 'memberUnreadable'
  | 'wrongType'
  | 'dedupUnreadable'
  | 'viewUnreadable'
  | 'unsupportedVersion';

/** Where damage was met. `conversationSeq` 0: not at one record. */
export interface DamageDetail {
  readonly tenantId: TenantId;
  readonly conversationId: ConversationId;
  readonly conversationSeq: ConversationSeq;
  readonly reason: CorruptReason;
}

export interface ErrorDetails {
  /** `field` in lowerCamelCase; `allowed` completes '<field> must be …'. */
  readonly InvalidArgument: { readonly field: string; readonly allowed: string };
  /** Too long rather than malformed. */
  readonly PayloadTooLarge: { readonly field: string; readonly bytesMax: number };
  readonly Unauthenticated: Record<string, never>;
  readonly TokenExpired: Record<string, never>;
  /** The one answer for: no such conversation, other tenant, outsider, former member. */
  readonly NotMember: Record<string, never>;
  /** A member whose role does not allow it, or a token without the claim. */
  readonly Forbidden: { readonly needs: string };
  /** No such message in a conversation that the caller may read. */
  readonly NotFound: Record<string, never>;
  /** The clientMessageId was used before for other content. */
  readonly IdempotencyConflict: Record<string, never>;
  /** Recalled or deleted: it never changes again. */
  readonly MessageFinal: Record<string, never>;
  readonly RecallWindowPassed: { readonly windowMs: number };
  /** Changed by others again and again while it was amended; retry. */
  readonly Aborted: Record<string, never>;
  readonly ResourceLimit: { readonly what: string; readonly limit: number };
  readonly RateLimited: { readonly retryAfterMs: number };
  /** Stored bytes are damaged or gone. Never reported as a smaller count. Not retryable. */
  readonly CorruptRecord: DamageDetail;
  /** Written by a newer qim; reason is always unsupportedVersion. */
  readonly UnsupportedVersion: DamageDetail;
  /** The backend did not answer. The outcome of a write is unknown: retry with the same clientMessageId. */
  readonly StoreUnavailable: { readonly what: string };
  readonly Unimplemented: { readonly what: string };
  /** A fault of the server; says nothing more. */
  readonly Internal: Record<string, never>;
}

export type ErrorCode = keyof ErrorDetails;
export type AnyQimError = { [Code in ErrorCode]: QimError<Code> }[ErrorCode];

export class QimError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name: string = 'QimError';
  readonly code: Code;
  readonly detail: ErrorDetails[Code];

  constructor(code: Code, detail: ErrorDetails[Code], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.detail = detail;
  }
}

export function isQimError(error: unknown): error is AnyQimError {
  return error instanceof QimError;
}

export function invalidArgument(field: string, allowed: string): QimError<'InvalidArgument'> {
  return new QimError('InvalidArgument', { field, allowed }, `${field} must be ${allowed}`);
}

export function payloadTooLarge(field: string, bytesMax: number): QimError<'PayloadTooLarge'> {
  return new QimError('PayloadTooLarge', { field, bytesMax }, `${field} must be at most ${bytesMax} bytes`);
}

export function notMember(): QimError<'NotMember'> {
  return new QimError('NotMember', {}, 'no such conversation');
}

export function forbidden(needs: string): QimError<'Forbidden'> {
  return new QimError('Forbidden', { needs }, `this needs ${needs}`);
}

export function notFound(): QimError<'NotFound'> {
  return new QimError('NotFound', {}, 'no such message');
}

export function resourceLimit(what: string, limit: number): QimError<'ResourceLimit'> {
  return new QimError('ResourceLimit', { what, limit }, `at most ${limit} ${what}`);
}

export function unimplemented(what: string): QimError<'Unimplemented'> {
  return new QimError('Unimplemented', { what }, `${what} is not built yet`);
}

/** A broken promise of our own code, never of a caller or of stored data. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}
