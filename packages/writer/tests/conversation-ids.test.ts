import { createHash } from 'node:crypto';
import { HistoryVisibility, parseClientMessageId, parseTenantId, parseUserId } from '@qim/proto';
import { directConversationId } from '@qim/writer';
import { describe, expect, test } from 'vitest';
import { groupRequestKey } from '../src/conversation-ids.js';
import { ALICE, BOB, T0, T7 } from './support.js';

describe('the id of a direct conversation', () => {
  test('never changes: every stored conversation hangs on it', () => {
    expect(directConversationId(T0, ALICE, BOB)).toBe('d_KoKQlGb3nQZIXnQz-X6GSQCSQENkHFH9ob_H-Umygls');
    expect(directConversationId(T0, ALICE, ALICE)).toBe('d_CNrTVVmyk-_TJRqrQqEMAvrrsNqZSEKXbUn9xM0yS8k');
    expect(directConversationId(T7, BOB, parseUserId('zoë'))).toBe('d_zYlcy-sZKF6rccWGBY8q18qiHPqTJ9L08JV9hpsclbE');
  });

  test('is SHA-256 over tenant and pair, each with its length in four bytes before it', () => {
    const bytes = Buffer.from('\0\0\0\x010\0\0\0\x05alice\0\0\0\x03bob', 'latin1');
    expect(directConversationId(T0, ALICE, BOB)).toBe(`d_${createHash('sha256').update(bytes).digest('base64url')}`);
  });

  test('is the same from both sides, in the order of bytes and not of UTF-16', () => {
    // U+10000 comes before U+FF00 in UTF-16 and after it in UTF-8.
    const pairs = [
      [ALICE, BOB],
      [parseUserId('\u{10000}'), parseUserId('\uff00')],
      [parseUserId('a'), parseUserId('ab')],
    ] as const;
    for (const [one, other] of pairs) expect(directConversationId(T0, one, other)).toBe(directConversationId(T0, other, one));
  });

  test('differs by tenant, and where two pairs run together in one text', () => {
    const ids = [
      directConversationId(T0, ALICE, BOB),
      directConversationId(T7, ALICE, BOB),
      directConversationId(T0, parseUserId('ab'), parseUserId('c')),
      directConversationId(T0, parseUserId('a'), parseUserId('bc')),
      directConversationId(parseTenantId(1), parseUserId('23'), parseUserId('4')),
      directConversationId(parseTenantId(12), parseUserId('3'), parseUserId('4')),
      directConversationId(T0, ALICE, ALICE),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('compares names byte for byte: two Unicode forms are two people', () => {
    expect(directConversationId(T0, ALICE, parseUserId('é'))).not.toBe(directConversationId(T0, ALICE, parseUserId('e\u0301')));
  });
});

test('the key of a group request holds the settings, is a legal idempotency key, and is never the client’s own', () => {
  const request = parseClientMessageId('r1');
  const keys = [HistoryVisibility.FromJoining, HistoryVisibility.All].flatMap((historyVisibility) =>
    [false, true].map((onlyAdminsPost) => groupRequestKey(request, { historyVisibility, onlyAdminsPost })),
  );
  expect(new Set(keys).size).toBe(4);
  expect(keys).not.toContain(request);
  expect(groupRequestKey(request, { historyVisibility: HistoryVisibility.All, onlyAdminsPost: true })).toBe(keys[3]);
});
