/** What travels between processes, byte for byte: whole it is itself, and anything else is nothing. */
import {
  BUS_MESSAGE_BYTES_MAX,
  BUS_PAYLOAD_BYTES_MAX,
  BUS_PROCESS_ID_BYTES_MAX,
  BUS_USERS_PER_MESSAGE_MAX,
  CONTENT_BYTES_MAX,
  CONTENT_TYPE_CHARS_MAX,
  LEGACY_TENANT_ID,
  MENTIONS_MAX,
  type Message,
  MessageStatus,
  parseActivityId,
  parseClientMessageId,
  parseConversationId,
  parseConversationSeq,
  parseDeviceId,
  parseMessageId,
  parseTenantId,
  parseUserId,
  REACTION_USERS_MAX,
  REACTIONS_BYTES_MAX,
  USER_ID_BYTES_MAX,
} from '@qim/proto';
import { describe, expect, test } from 'vitest';
import { decodeEnvelope, encodeEnvelope, encodeHead, encodeOrigin, isFrom } from '../src/bus/envelope.js';
import { decodeMessage, encodeMessage } from '../src/message/message-bytes.js';
import { encodeReactions } from '../src/message/reactions.js';

const TENANT = parseTenantId(2 ** 32 - 1);
const USERS = ['alice', 'böb', 'c'.repeat(USER_ID_BYTES_MAX)].map((id) => parseUserId(id));
const PAYLOAD = Uint8Array.from({ length: 300 }, (_, n) => n % 256);
const envelope = (users = USERS, processId = 'one', payload = PAYLOAD) => encodeEnvelope(encodeHead(processId, TENANT, users), payload);
const many = (count: number) => Array.from({ length: count }, (_, n) => parseUserId(String(n).padStart(USER_ID_BYTES_MAX, 'x')));

/** Every shorter one, and one with a byte more. */
function cutsOf(bytes: Uint8Array): Uint8Array[] {
  return [...Array.from(bytes, (_, length) => bytes.slice(0, length)), Uint8Array.from([...bytes, 0])];
}

describe('an event with its users', () => {
  test('is read as it was written', () => {
    expect(decodeEnvelope(envelope())).toEqual({ processId: 'one', tenantId: TENANT, userIds: USERS, payload: PAYLOAD });
  });

  test('that is cut anywhere, or has a byte more, is none', () => {
    for (const cut of cutsOf(envelope())) expect(decodeEnvelope(cut)).toBeUndefined();
  });

  test('of another version, without users, or with a user that cannot be one, is none', () => {
    expect(decodeEnvelope(Uint8Array.from([2, ...envelope().subarray(1)]))).toBeUndefined();
    expect(decodeEnvelope(envelope([]))).toBeUndefined();
    const nameless = envelope([parseUserId('x')]);
    nameless[nameless.indexOf('x'.charCodeAt(0), 5)] = 7;
    expect(decodeEnvelope(nameless)).toBeUndefined();
  });

  test('names BUS_USERS_PER_MESSAGE_MAX users, and not one more', () => {
    expect(decodeEnvelope(envelope(many(BUS_USERS_PER_MESSAGE_MAX)))?.userIds).toHaveLength(BUS_USERS_PER_MESSAGE_MAX);
    expect(decodeEnvelope(envelope(many(BUS_USERS_PER_MESSAGE_MAX + 1)))).toBeUndefined();
  });

  test('comes from a process with an id of BUS_PROCESS_ID_BYTES_MAX, and not one more', () => {
    expect(decodeEnvelope(envelope(USERS, 'p'.repeat(BUS_PROCESS_ID_BYTES_MAX)))).toBeDefined();
    expect(decodeEnvelope(envelope(USERS, 'p'.repeat(BUS_PROCESS_ID_BYTES_MAX + 1)))).toBeUndefined();
  });

  test('is BUS_MESSAGE_BYTES_MAX long, and not one byte more; the largest of ours is below', () => {
    const padded = (length: number) => envelope(USERS, 'one', new Uint8Array(length - envelope(USERS, 'one', new Uint8Array()).length));
    expect(decodeEnvelope(padded(BUS_MESSAGE_BYTES_MAX))).toBeDefined();
    expect(decodeEnvelope(padded(BUS_MESSAGE_BYTES_MAX + 1))).toBeUndefined();
    const largest = envelope(many(BUS_USERS_PER_MESSAGE_MAX), 'p'.repeat(BUS_PROCESS_ID_BYTES_MAX), new Uint8Array(BUS_PAYLOAD_BYTES_MAX));
    expect(largest.length).toBeLessThanOrEqual(BUS_MESSAGE_BYTES_MAX);
  });
});

function message(part: Partial<Message['record']> = {}): Message {
  return {
    epoch: 3,
    record: {
      tenantId: LEGACY_TENANT_ID,
      conversationId: parseConversationId('g_room'),
      conversationSeq: parseConversationSeq(9),
      prevSequence: parseConversationSeq(4),
      messageId: parseMessageId('01890000-0000-7000-8000-000000000001'),
      activityId: parseActivityId('01890000-0000-7000-8000-000000000002'),
      sender: { userId: parseUserId('alice'), deviceId: parseDeviceId('phone') },
      clientMessageId: parseClientMessageId('c1'),
      type: 1,
      status: MessageStatus.Edited,
      revision: 2,
      committedAtMs: 1_700_000_000_000,
      amendedAtMs: 1_700_000_000_001,
      mentions: { userIds: [parseUserId('bob')], all: true },
      replyTo: { conversationSeq: parseConversationSeq(4), messageId: parseMessageId('01890000-0000-7000-8000-000000000003') },
      content: { kind: 'text', text: 'hello' },
      ...part,
    },
  };
}

describe('a message', () => {
  const apart = message({ content: { kind: 'data', contentType: 'a/b', data: new Uint8Array(2_000).fill(7) } });

  test('is read as it was written, with its body inside and apart, and when it is erased', () => {
    const erased = message({ status: MessageStatus.Recalled, content: { kind: 'none' }, mentions: { userIds: [], all: false } });
    const reacted = { ...message(), reactions: { revision: 4, kinds: [{ emoji: '\u{1F44D}', userIds: USERS }] } };
    for (const one of [message(), apart, erased, reacted]) expect(decodeMessage(encodeMessage(one))).toEqual(one);
  });

  test('that is cut anywhere, or has a byte more, is none', () => {
    for (const one of [message(), apart]) for (const cut of cutsOf(encodeMessage(one))) expect(decodeMessage(cut)).toBeUndefined();
  });

  test('with any bit of its record or body flipped is none', () => {
    const bytes = encodeMessage(apart);
    for (let bit = 8 * 8; bit < bytes.length * 8; bit += 1) {
      const flipped = bytes.slice();
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(decodeMessage(flipped), `bit ${bit}`).toBeUndefined();
    }
  });

  test('of the largest kind fits the bound of what travels', () => {
    const content = { kind: 'data', contentType: 't'.repeat(CONTENT_TYPE_CHARS_MAX), data: new Uint8Array(CONTENT_BYTES_MAX) } as const;
    const largest = message({ content, mentions: { userIds: many(MENTIONS_MAX), all: true } });
    const userIds = many(REACTION_USERS_MAX);
    const kinds = [0, 1].map((n) => ({ emoji: String(n), userIds }));
    const reactions = { revision: 1, kinds: [...kinds, { emoji: 'last', userIds: userIds.slice(0, 50) }] };
    expect(encodeReactions(largest.record.messageId, reactions).length).toBeGreaterThan(REACTIONS_BYTES_MAX - 1_024);
    expect(encodeMessage({ ...largest, reactions }).length).toBeLessThan(BUS_PAYLOAD_BYTES_MAX - 1_024);
  });
});

test('what a process has sent is known by its first bytes, and nothing of another whose id is longer, shorter or like it', () => {
  const origin = encodeOrigin('one');
  expect(isFrom(origin, envelope(USERS, 'one'))).toBe(true);
  for (const other of ['on', 'ones', 'onE', '']) expect(isFrom(origin, envelope(USERS, other))).toBe(false);
  expect(isFrom(origin, origin.subarray(0, origin.length - 1))).toBe(false);
});
