/** Keys and values that only the embedded store forms. */
import {
  ConversationKind,
  HistoryVisibility,
  parseClientMessageId,
  parseConversationId,
  parseConversationSeq,
  parseTenantId,
  parseUserId,
  SEQ_MAX,
} from '@qim/proto';
import { describe, expect, test } from 'vitest';
import { ConversationKeys, conversationIdFrom, everythingUnder, UserKeys, userIdFrom } from '../src/embedded/keys.js';
import { decodeOutboxValue, encodeOutboxValue } from '../src/embedded/outbox-value.js';
import { counterFrom, counterValue, decodeFacts, encodeFacts } from '../src/embedded/values.js';
import { initialFacts } from '../src/message/facts.js';

const T0 = parseTenantId(0);
const seq = parseConversationSeq;

describe('keys', () => {
  const chat = new ConversationKeys(T0, parseConversationId('g_1'));

  test('sequences sort as numbers', () => {
    const sequences = [1, 255, 256, 65_536, 2 ** 32 - 1, 2 ** 32, 2 ** 40 + 7, SEQ_MAX].map((each) => seq(each));
    const keys = sequences.map((each) => chat.index(each));
    expect([...keys].sort(Buffer.compare)).toEqual(keys);
    expect(keys.map((each) => counterFrom(each.subarray(-8)))).toEqual(sequences);
  });

  test('no two lists of ids make one key', () => {
    const users = ['a', 'b', 'a:b', 'a%3Ab', 'a b', 'A', 'ü', 'u\u0308'].map((id) => parseUserId(id));
    const texts = users.flatMap((user) => users.map((id) => chat.dedup(1, user, parseClientMessageId(id)).toString('latin1')));
    expect(new Set(texts).size).toBe(users.length ** 2);
  });

  test('what lies under one conversation lies under no other', () => {
    const { start, end } = everythingUnder(chat.indexPrefix);
    const within = (other: Buffer): boolean => Buffer.compare(start, other) <= 0 && Buffer.compare(other, end) < 0;
    expect(within(chat.index(seq(1)))).toBe(true);
    expect(within(chat.index(seq(SEQ_MAX)))).toBe(true);
    expect(within(chat.indexMember(Buffer.from('damaged, and longer than any sequence')))).toBe(true);
    for (const other of ['g_', 'g_10', 'g_2', 'g_1_']) {
      expect(within(new ConversationKeys(T0, parseConversationId(other)).index(seq(1))), other).toBe(false);
    }
    expect(within(new ConversationKeys(parseTenantId(1), parseConversationId('g_1')).index(seq(1)))).toBe(false);
  });

  test('the longest stays far under the 1 978 bytes that LMDB allows', () => {
    const longest = new ConversationKeys(parseTenantId(2 ** 32 - 1), parseConversationId('c'.repeat(64)));
    expect(longest.dedup(9_999, parseUserId(' '.repeat(64)), parseClientMessageId(' '.repeat(64))).length).toBeLessThan(600);
  });

  test('ids come back from keys, and what is no id does not', () => {
    const user = parseUserId('ü:% x');
    const keys = new UserKeys(T0, user);
    const at = keys.listPrefix.length + 8;
    expect(conversationIdFrom(keys.list(7, parseConversationId('g_1')).subarray(at))).toBe('g_1');
    const part = chat.member(user).subarray(chat.memberPrefix.length);
    expect(userIdFrom(part)).toBe(user);
    for (const damaged of ['', '%', '%zz', '%c3%bc', '%FF', 'a:b', ' ']) expect(userIdFrom(Buffer.from(damaged)), damaged).toBeUndefined();
  });
});

describe('facts', () => {
  const settings = { historyVisibility: HistoryVisibility.All, onlyAdminsPost: true };
  const facts = { ...initialFacts(ConversationKind.Group, 'über "uns"', settings, []), lastSequence: seq(SEQ_MAX) };

  test('come back as they were', () => {
    expect(decodeFacts(encodeFacts(facts))).toEqual(facts);
    expect(decodeFacts(undefined)).toBeUndefined();
  });

  test('every single flipped bit is noticed', () => {
    const bytes = encodeFacts(facts);
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const damaged = new Uint8Array(bytes);
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(decodeFacts(damaged), `bit ${bit}`).toBe('factsUnreadable');
    }
  });

  test('every truncation is noticed', () => {
    const bytes = encodeFacts(facts);
    for (let length = 0; length < bytes.length; length += 1) expect(decodeFacts(bytes.subarray(0, length))).toBe('factsUnreadable');
  });

  test('a newer version is told apart from damage', () => {
    const bytes = encodeFacts(facts);
    bytes[0] = 2;
    bytes[1] = 0xff - 2;
    expect(decodeFacts(bytes)).toBe('unsupportedVersion');
  });
});

describe('outbox entries', () => {
  const entry = {
    kind: 'membership',
    tenantId: parseTenantId(7),
    conversationId: parseConversationId('g_1'),
    conversationSeq: seq(SEQ_MAX),
    atMs: 1_780_000_000_000,
  } as const;

  test('come back as they were', () => {
    expect(decodeOutboxValue(encodeOutboxValue(entry))).toEqual(entry);
  });

  test.each([
    '',
    'committed 0 g_1 1',
    'committed 0 g_1 1 2 3',
    'other 0 g_1 1 2',
    'committed -1 g_1 1 2',
    'committed 0 g:1 1 2',
    'committed 0 g_1 1e3 2',
    'committed 4294967296 g_1 1 2',
    'committed 0 g_1 9007199254740992 2',
  ])('%j is none', (text) => {
    expect(decodeOutboxValue(Buffer.from(text))).toBeUndefined();
  });
});

test('a counter is 8 bytes, and anything else counts as 0', () => {
  for (const value of [0, 1, 2 ** 32, SEQ_MAX]) expect(counterFrom(counterValue(value))).toBe(value);
  expect(counterFrom(undefined)).toBe(0);
  expect(counterFrom(Buffer.from('short'))).toBe(0);
  expect(counterFrom(Buffer.alloc(8, 0xff))).toBe(0);
});
