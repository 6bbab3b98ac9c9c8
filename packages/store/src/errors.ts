/**
 * How store calls fail. `MessageStoreError` is a QimError, so that one code is one word from the store to the wire.
 *
 * CorruptRecord {tenantId, conversationId, conversationSeq, reason}: damage, never a smaller number (seed, section 4).
 * UnsupportedVersion: the same, for a record that a newer qim wrote. StoreUnavailable: a command failed or timed out;
 * the outcome of a write is unknown. NotMember, Forbidden, IdempotencyConflict, ResourceLimit, Aborted: a commit or an
 * amendment was refused inside its step, and nothing was written.
 */
import {
  type ConversationId,
  type ConversationSeq,
  type CorruptReason,
  type ErrorCode,
  isQimError,
  QimError,
  SEQ_ZERO,
  type TenantId,
} from '@qim/proto';

export class MessageStoreError<Code extends ErrorCode = ErrorCode> extends QimError<Code> {
  override readonly name = 'MessageStoreError';
}

export type DamageError = MessageStoreError<'CorruptRecord'> | MessageStoreError<'UnsupportedVersion'>;

/** The place is told in `detail` only: messages reach logs, and ids are the host application's. */
export function corrupt(
  tenantId: TenantId,
  conversationId: ConversationId,
  reason: CorruptReason,
  conversationSeq: ConversationSeq = SEQ_ZERO,
): DamageError {
  const detail = { tenantId, conversationId, conversationSeq, reason };
  if (reason === 'unsupportedVersion') return new MessageStoreError('UnsupportedVersion', detail, 'a stored record has a newer version');
  return new MessageStoreError('CorruptRecord', detail, `stored data is damaged: ${reason}`);
}

export function unavailable(what: string, cause?: unknown): MessageStoreError<'StoreUnavailable'> {
  return new MessageStoreError('StoreUnavailable', { what }, `the store did not answer: ${what}`, { cause });
}

/** The store holds the first part of an archive: nobody may take it for a whole. */
export function importUnderWay(): MessageStoreError<'StoreUnavailable'> {
  const text = 'an import has not come to its end: go on with qim import, or empty the store';
  return new MessageStoreError('StoreUnavailable', { what: text }, text);
}

/** What the caller judged has changed meanwhile; nothing was written. */
export function aborted(): MessageStoreError<'Aborted'> {
  return new MessageStoreError('Aborted', {}, 'changed by others meanwhile');
}

export function idempotencyConflict(): MessageStoreError<'IdempotencyConflict'> {
  return new MessageStoreError('IdempotencyConflict', {}, 'the clientMessageId was used before for other content');
}

export function isDamage(error: unknown): error is DamageError {
  return isQimError(error) && (error.code === 'CorruptRecord' || error.code === 'UnsupportedVersion');
}
