/** How far a page of history reads ahead. */
import {
  BODY_OVERHEAD_BYTES_MAX,
  HISTORY_PAGE_BYTES_MAX,
  MENTIONS_MAX,
  MessageType,
  parseClientMessageId,
  parseDeviceId,
  parseMessageId,
  parseUserId,
} from '@qim/proto';
import { expect, test } from 'vitest';
import { decodeHeader, encodeRecord, type RecordHeader } from '../src/message/codec.js';
import { fetchAhead } from '../src/redis/history-budget.js';
import { ALICE, recordOf, seq, uuid } from './records.js';

function headerOf(over: Parameters<typeof recordOf>[1]): RecordHeader {
  const header = decodeHeader(encodeRecord(recordOf(2, over)).record);
  if (typeof header === 'string') throw new Error(header);
  return header;
}

test('what a body holds besides content stays below what the reader allows for', () => {
  const longest = (n: number) => parseUserId(String(n).padStart(64, 'x'));
  const header = headerOf({
    sender: { userId: ALICE, deviceId: parseDeviceId('d'.repeat(64)) },
    clientMessageId: parseClientMessageId('c'.repeat(64)),
    mentions: { userIds: Array.from({ length: MENTIONS_MAX }, (_, n) => longest(n)), all: true },
    replyTo: { conversationSeq: seq(1), messageId: parseMessageId(uuid('reply', 1)) },
    type: MessageType.File,
    content: { kind: 'data', contentType: 'a/'.padEnd(127, 'b'), data: new Uint8Array(0) },
  });
  expect(header.bodyApart).toBe(true);
  expect(header.bodyLength).toBeGreaterThan(6_000);
  expect(header.bodyLength).toBeLessThanOrEqual(BODY_OVERHEAD_BYTES_MAX);
});

test('a page reads no body past the first one that cannot fit', () => {
  const large = headerOf({ content: { kind: 'data', contentType: 'a/b', data: new Uint8Array(64 * 1024) } });
  const small = headerOf({});
  const surely = large.bodyLength - BODY_OVERHEAD_BYTES_MAX;
  const fitting = Math.floor(HISTORY_PAGE_BYTES_MAX / surely);
  expect(fetchAhead(Array.from({ length: 100 }, () => large))).toBe(fitting + 1);
  expect(fetchAhead(Array.from({ length: fitting }, () => large))).toBe(fitting);
  expect(fetchAhead(Array.from({ length: 200 }, () => small))).toBe(200);
  expect(fetchAhead([])).toBe(0);
});
