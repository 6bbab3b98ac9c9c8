/** What all parts of a verification share, and how they say what they found. */
import type { ConversationSeq, UserId } from '@qim/proto';
import type { MessageStore } from '../message/message-store.js';
import type { ConversationPlace, Finding, FindingCode } from './finding.js';
import type { ConversationChange } from './mender.js';
import type { Slot, StoreScanner } from './scanner.js';

export interface VerifyContext {
  readonly scanner: StoreScanner;
  /** The service's own reads, whose answers are compared. */
  readonly messages: Pick<MessageStore, 'readConversations' | 'readHistory'>;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
  /** Records of a newer qim are damage too: the operator has said that there is no newer qim. */
  readonly newerIsDamage: boolean;
  /** Called after so many records were read; resolves when the next ones may be. */
  readonly took: (records: number) => Promise<void>;
}

/** Of one conversation, and where one is concerned of a record or a user in it. */
export function findingAt(
  place: ConversationPlace,
  code: FindingCode,
  what: string,
  at: { readonly conversationSeq?: ConversationSeq | undefined; readonly userId?: UserId | undefined } = {},
): Finding {
  const { tenantId, conversationId } = place;
  return { code, tenantId, conversationId, userId: at.userId, conversationSeq: at.conversationSeq, what };
}

/** What puts bytes aside before they are overwritten or removed; none where there are no bytes. */
export function aside(context: VerifyContext, finding: Finding, was: string, bytes: Uint8Array | undefined): ConversationChange[] {
  const { code, tenantId, conversationId, conversationSeq, userId } = finding;
  if (bytes === undefined || conversationId === undefined) return [];
  const item = {
    tenantId,
    conversationId,
    conversationSeq,
    userId,
    id: context.newId(),
    was,
    code,
    atMs: context.now(),
    bytes: Buffer.from(bytes),
  };
  return [{ kind: 'aside', item }];
}

/** A stored name that is no id, for people: its bytes as far as they are letters, the first NAME_CHARS_MAX. */
export function nameOf({ key, field }: Slot): string {
  return JSON.stringify((field?.toString('latin1') ?? key).slice(0, NAME_CHARS_MAX));
}

const NAME_CHARS_MAX = 80;
