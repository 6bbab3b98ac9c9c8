/** Records and ids for tests. */
import {
  type ConversationSeq,
  type MessageRecord,
  MessageStatus,
  MessageType,
  parseActivityId,
  parseClientMessageId,
  parseConversationId,
  parseConversationSeq,
  parseDeviceId,
  parseMessageId,
  parseTenantId,
  parseUserId,
} from '@qim/proto';

export const T7 = parseTenantId(7);
export const ALICE = parseUserId('alice');
export const BOB = parseUserId('bob');
export const CHAT = parseConversationId('g_0190b5e0-0000-7000-8000-000000000001');

export function seq(n: number): ConversationSeq {
  return parseConversationSeq(n);
}

/** A UUIDv7 that tells its number. */
export function uuid(kind: 'message' | 'activity' | 'reply', n: number): string {
  const digit = { message: 'a', activity: 'b', reply: 'c' }[kind];
  return `0190b5e0-1c2d-7${digit.repeat(3)}-8000-${n.toString(16).padStart(12, '0').slice(-12)}`;
}

/** Alice's n-th text in CHAT, after its n - 1-th. */
export function recordOf(n: number, over: Partial<MessageRecord> = {}): MessageRecord {
  return {
    tenantId: T7,
    conversationId: CHAT,
    conversationSeq: seq(n),
    prevSequence: seq(n - 1),
    messageId: parseMessageId(uuid('message', n)),
    activityId: parseActivityId(uuid('activity', n)),
    sender: { userId: ALICE, deviceId: parseDeviceId('phone') },
    clientMessageId: parseClientMessageId(`c${n}`),
    type: MessageType.Text,
    status: MessageStatus.Normal,
    revision: 0,
    committedAtMs: 1_700_000_000_000 + n,
    amendedAtMs: 0,
    mentions: { userIds: [], all: false },
    replyTo: undefined,
    content: { kind: 'text', text: `hello ${n}` },
    ...over,
  };
}
