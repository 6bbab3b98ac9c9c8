/**
 * The record that takes the place of one that is damaged or gone: Deleted, so that lists, counts and history stand again,
 * with ids of its own, so that a device which holds the lost one drops it. It says nothing that is not known: who sent
 * the lost one, and when, only where its header was whole.
 */
import {
  type ConversationSeq,
  type MessageRecord,
  MessageStatus,
  MessageType,
  parseActivityId,
  parseClientMessageId,
  parseMessageId,
  parseUserId,
} from '@qim/proto';
import type { VerifyContext } from './context.js';
import type { KnownHeader } from './decode-rows.js';
import type { ConversationPlace } from './finding.js';

/** The sender of a record whose sender is not known. */
export const REPAIR_SENDER = parseUserId('qim fsck');
const CLIENT_MESSAGE_ID = parseClientMessageId('qim fsck');

export interface Lost {
  readonly place: ConversationPlace;
  readonly sequence: ConversationSeq;
  readonly prevSequence: ConversationSeq;
  /** Of the record before it, or the one after it: times never go back. */
  readonly committedAtMs: number;
  /** Lists never showed it: it was a Control record. */
  readonly wasControl: boolean;
  /** Whole, and of this very record: only its body is lost. */
  readonly known: KnownHeader | undefined;
}

export function placeholderOf(context: Pick<VerifyContext, 'newId' | 'now'>, lost: Lost): MessageRecord {
  const { known } = lost;
  const committedAtMs = known?.committedAtMs ?? lost.committedAtMs;
  return {
    ...lost.place,
    conversationSeq: lost.sequence,
    prevSequence: lost.prevSequence,
    messageId: parseMessageId(context.newId()),
    activityId: parseActivityId(context.newId()),
    sender: { userId: known?.senderUserId ?? REPAIR_SENDER, deviceId: undefined },
    clientMessageId: CLIENT_MESSAGE_ID,
    type: known?.type ?? (lost.wasControl ? MessageType.Control : MessageType.Custom),
    status: MessageStatus.Deleted,
    revision: 0,
    committedAtMs,
    amendedAtMs: Math.max(context.now(), committedAtMs),
    mentions: { userIds: [], all: false },
    replyTo: undefined,
    content: { kind: 'none' },
  };
}
