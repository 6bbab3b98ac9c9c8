/**
 * How a call fails. Branch on `reason`, never on the message.
 *
 * `reason` is the server's (docs/errors.md) or one of the client's own:
 *   NOT_CONNECTED    no connection within the time allowed; nothing was sent
 *   CONNECTION_LOST  the link broke before the answer
 *   CALL_TIMEOUT     no answer in time
 *   CANCELED         the caller's signal
 *   CLIENT_CLOSED    close() was called, or the connection has stopped for good
 *   CLIENT_LIMIT     a bound of the client itself
 *   BAD_ANSWER       the server sent what this client cannot understand
 *   ACCOUNT_MISMATCH the token is another user's than the client was made for
 *   LOGGED_OUT       another tab has logged this user out
 *   STORAGE_FAILED   what is kept on this device could not be removed
 *   TOO_OLD          an unsent message of a week ago: a retry might double it
 */
import type { FrameError } from '@qim/proto/schema';

export type ClientReason =
  | 'NOT_CONNECTED'
  | 'CONNECTION_LOST'
  | 'CALL_TIMEOUT'
  | 'CANCELED'
  | 'CLIENT_CLOSED'
  | 'CLIENT_LIMIT'
  | 'BAD_ANSWER'
  | 'ACCOUNT_MISMATCH'
  | 'LOGGED_OUT'
  | 'STORAGE_FAILED'
  | 'TOO_OLD';

const CODE_OF = {
  NOT_CONNECTED: 'unavailable',
  CONNECTION_LOST: 'unavailable',
  CALL_TIMEOUT: 'deadline_exceeded',
  CANCELED: 'canceled',
  CLIENT_CLOSED: 'canceled',
  CLIENT_LIMIT: 'resource_exhausted',
  BAD_ANSWER: 'internal',
  ACCOUNT_MISMATCH: 'unauthenticated',
  LOGGED_OUT: 'unauthenticated',
  STORAGE_FAILED: 'internal',
  TOO_OLD: 'failed_precondition',
} as const satisfies Record<ClientReason, string>;

export interface QimClientErrorInit {
  /** A Connect code, such as invalid_argument. */
  readonly code: string;
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
  readonly retryAfterMs?: number;
  readonly outcomeUnknown?: boolean;
  readonly cause?: unknown;
}

export class QimClientError extends Error {
  override readonly name = 'QimClientError';
  readonly code: string;
  readonly reason: string;
  /** The field at fault, in lowerCamelCase; '' when it is not about one. */
  readonly field: string;
  /** 0: not said. */
  readonly retryAfterMs: number;
  /** The call may have taken effect: it was sent, and no answer came. Retry a send with the same client message id. */
  readonly outcomeUnknown: boolean;

  constructor(init: QimClientErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.code = init.code;
    this.reason = init.reason;
    this.field = init.field ?? '';
    this.retryAfterMs = init.retryAfterMs ?? 0;
    this.outcomeUnknown = init.outcomeUnknown ?? false;
  }
}

export function isQimClientError(error: unknown): error is QimClientError {
  return error instanceof QimClientError;
}

export function clientError(reason: ClientReason, message: string, outcomeUnknown = false): QimClientError {
  return new QimClientError({ code: CODE_OF[reason], reason, message, outcomeUnknown });
}

export function clientClosed(): QimClientError {
  return clientError('CLIENT_CLOSED', 'the client was closed');
}

export function storageFailed(cause: unknown): QimClientError {
  const message = 'what is kept on this device could not be removed';
  return new QimClientError({ code: CODE_OF.STORAGE_FAILED, reason: 'STORAGE_FAILED', message, cause });
}

/** A failure as plain data, to be kept. */
export type FailureRecord = Required<Omit<QimClientErrorInit, 'cause'>>;

export function failureOf({ code, reason, message, field, retryAfterMs, outcomeUnknown }: QimClientError): FailureRecord {
  return { code, reason, message, field, retryAfterMs, outcomeUnknown };
}

export function failureFrom(record: FailureRecord): QimClientError {
  return new QimClientError(record);
}

/** The same failure, of a call that may or may not have taken effect. */
export function withOutcome(error: QimClientError, outcomeUnknown: boolean): QimClientError {
  if (error.outcomeUnknown === outcomeUnknown) return error;
  const { code, reason, message, field, retryAfterMs } = error;
  return new QimClientError({ code, reason, message, field, retryAfterMs, outcomeUnknown, cause: error });
}

/** What the server answered. */
export function serverError({ code, reason, message, field, retryAfterMs }: FrameError): QimClientError {
  // The server itself does not know whether a write took effect.
  const outcomeUnknown = code === 'unavailable' || code === 'internal';
  return new QimClientError({ code, reason, message, field, retryAfterMs, outcomeUnknown });
}

/** As the server would have said it. */
export function invalidArgument(field: string, message: string): QimClientError {
  return new QimClientError({ code: 'invalid_argument', reason: 'INVALID_ARGUMENT', message, field });
}

export function payloadTooLarge(bytesMax: number): QimClientError {
  const message = `a call must be at most ${bytesMax} bytes`;
  return new QimClientError({ code: 'invalid_argument', reason: 'PAYLOAD_TOO_LARGE', message });
}

const PASSING: ReadonlySet<string> = new Set(['CONNECTION_LOST', 'CALL_TIMEOUT', 'STORE_UNAVAILABLE', 'ABORTED', 'RATE_LIMITED']);

/** The same call may succeed a little later; a write only if repeating it is harmless. */
export function mayPass(error: QimClientError): boolean {
  return PASSING.has(error.reason) || error.code === 'unavailable';
}

const WITHOUT_LINK: ReadonlySet<string> = new Set(['NOT_CONNECTED', 'CONNECTION_LOST', 'CLIENT_CLOSED', 'CANCELED']);

/** Nothing is wrong but the link: the next welcome reads again. */
export function isWithoutLink(error: QimClientError): boolean {
  return WITHOUT_LINK.has(error.reason);
}

/** Nothing is wrong with the call itself: it may be made again over the next link, or by the next client. */
export function isOfThisLink(error: QimClientError): boolean {
  return isWithoutLink(error) || error.code === 'unauthenticated';
}

/** For what only a fault of ours, or an answer beyond understanding, can bring. */
export function asClientError(error: unknown, doing: string): QimClientError {
  return isQimClientError(error)
    ? error
    : new QimClientError({ code: 'internal', reason: 'BAD_ANSWER', message: `${doing} failed`, cause: error });
}

/** Whether the caller has no such conversation (any more). */
export function isNotMember(error: unknown): boolean {
  return isQimClientError(error) && error.reason === 'NOT_MEMBER';
}

/** What is stored is damaged, or a newer server's. */
export function isDamage(error: unknown): boolean {
  return isQimClientError(error) && error.code === 'data_loss';
}

const NO_CATCH_UP: ReadonlySet<string> = new Set(['UNIMPLEMENTED', 'CORRUPT_RECORD', 'UNSUPPORTED_VERSION']);

/** A catch-up is not to be had here; plain history may be. */
export function cannotCatchUp(error: unknown): boolean {
  return isQimClientError(error) && NO_CATCH_UP.has(error.reason);
}
