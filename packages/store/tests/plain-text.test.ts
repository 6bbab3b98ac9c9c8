/** The short cut to a payload's text: it answers what decoding all of it answers, or nothing. */
import { type MessageContent, type MessageRecord, parseClientMessageId, parseDeviceId, parseMessageId, parseUserId } from '@qim/proto';
import { expect, test } from 'vitest';
import { ByteReader } from '../src/message/bytes.js';
import { decodePayload, encodePayload, plainTextOf } from '../src/message/payload.js';
import { recordOf as record, seq } from './records.js';

const TEXTS = ['', 'hello', 'grüße 你好', 'x'.repeat(600)];
const PLAIN = TEXTS.map((text): MessageContent => ({ kind: 'text', text }));
const BOB = parseUserId('bob');

const recordOf = (content: MessageContent, over: Partial<MessageRecord> = {}): MessageRecord => record(1, { content, ...over });

/** What the decoder says of the same bytes: the text of what a list shows as text. */
function decoded(bytes: Uint8Array): string | undefined {
  try {
    const { content } = decodePayload(new ByteReader(bytes));
    return content.kind === 'text' ? content.text : content.kind === 'none' ? '' : undefined;
  } catch {
    return undefined;
  }
}

function short(bytes: Uint8Array): string | undefined {
  try {
    // Not at the beginning of its bytes, and with others after it.
    const around = new Uint8Array(bytes.length + 20).fill(1);
    around.set(bytes, 7);
    return plainTextOf(around, 7, 7 + bytes.length)?.text;
  } catch {
    return undefined;
  }
}

test.each([...PLAIN, { kind: 'none' } as const])('a plain message needs no more: %#', (content) => {
  const payload = encodePayload(recordOf(content));
  expect(short(payload)).toBe(decoded(payload));
  expect(plainTextOf(payload, 0, payload.length)?.bytes).toBe(Buffer.byteLength(short(payload) ?? ''));
});

test.each([
  ['a reply', { replyTo: { conversationSeq: seq(3), messageId: parseMessageId('0190c8a4-3f5e-7000-8000-000000000001') } }],
  ['a mention', { mentions: { userIds: [BOB], all: false } }],
  ['an id of more than ASCII', { clientMessageId: parseClientMessageId('é') }],
] as const)('%s is left to the decoder', (_, over) => {
  const payload = encodePayload(recordOf({ kind: 'text', text: 'hello' }, over));
  expect([short(payload), decoded(payload)]).toEqual([undefined, 'hello']);
});

test('other content is left to the decoder', () => {
  const payload = encodePayload(recordOf({ kind: 'data', contentType: 'image/png', data: new Uint8Array(4) }));
  expect(short(payload)).toBeUndefined();
});

test('whatever is cut off or changed, it never takes what the decoder refuses', () => {
  const sender = { userId: BOB, deviceId: parseDeviceId('phone') };
  const whole = Uint8Array.from(encodePayload(recordOf({ kind: 'text', text: 'hé' }, { sender })));
  let taken = 0;
  for (let cut = 0; cut <= whole.length; cut += 1) {
    const bytes = whole.slice(0, cut);
    if (short(bytes) !== undefined) expect(short(bytes), `cut at ${cut}`).toBe(decoded(bytes));
  }
  for (let at = 0; at < whole.length; at += 1) {
    for (let value = 0; value < 256; value += 1) {
      const bytes = whole.slice();
      bytes[at] = value;
      const text = short(bytes);
      if (text === undefined) continue;
      taken += 1;
      if (text !== decoded(bytes)) expect(text, `${value} at ${at}`).toBe(decoded(bytes));
    }
  }
  expect(taken).toBeGreaterThan(whole.length);
});
