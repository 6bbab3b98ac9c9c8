/** What commit.lua, amend.lua and react.lua answer, as errors and stamps. */
import { type CorruptReason, forbidden, GROUP_MEMBERS_MAX, notMember, resourceLimit, SEQ_MAX } from '@qim/proto';
import { aborted, corrupt, idempotencyConflict } from '../errors.js';
import { type DedupEntry, decodeDedupEntry } from '../message/dedup-entry.js';
import { tooManyBytes, tooManyKinds, tooManyUsers } from '../message/reactions.js';
import type { CommitStamp } from '../message/record.js';
import type { Reply } from './connection.js';
import type { ConversationPlace } from './keys.js';
import { asArray, asBuffer, asDecimal, asSequence, asText } from './replies.js';

export type CommitResult =
  | { readonly kind: 'committed'; readonly stamp: CommitStamp; readonly created: boolean; readonly epoch: number }
  | { readonly kind: 'duplicate'; readonly entry: DedupEntry };

/** `needs`: what the caller asked for, told to one who has less. @throws what the script refused or found damaged */
export function parseCommitResult(reply: Reply | undefined, place: ConversationPlace, needs: string): CommitResult {
  const [kind, ...values] = asArray(reply);
  switch (asText(kind)) {
    case 'committed': {
      const [conversationSeq, prevSequence, committedAtMs, created, epoch] = values;
      const stamp = {
        conversationSeq: asSequence(conversationSeq),
        prevSequence: asSequence(prevSequence),
        committedAtMs: asDecimal(committedAtMs),
      };
      return { kind: 'committed', stamp, created: asText(created) === '1', epoch: asDecimal(epoch) };
    }
    case 'duplicate': {
      const entry = decodeDedupEntry(asBuffer(values[0]));
      if (typeof entry === 'string') throw corrupt(place.tenantId, place.conversationId, entry);
      return { kind: 'duplicate', entry };
    }
    default:
      throw refusal(asText(kind), values, place, needs);
  }
}

/** The error of a result that is neither success nor duplicate. */
export function refusal(kind: string, values: readonly Reply[], place: ConversationPlace, needs: string): Error {
  const [word = ''] = values.map(asText);
  if (kind === 'conflict') return idempotencyConflict();
  if (kind === 'corrupt') {
    return corrupt(place.tenantId, place.conversationId, word as CorruptReason, asSequence(values[1]));
  }
  switch (word) {
    case 'NotMember':
      return notMember();
    case 'Forbidden':
      return forbidden(needs);
    case 'Aborted':
      return aborted();
    case 'members':
      return resourceLimit('members', GROUP_MEMBERS_MAX);
    case 'kinds':
      return tooManyKinds();
    case 'users':
      return tooManyUsers();
    case 'bytes':
      return tooManyBytes();
    case 'sequences':
      return resourceLimit('sequences', SEQ_MAX);
    default:
      return new Error(`a script answered ${kind} ${word}`);
  }
}
