/** Replies found in place: whatever the pieces in which they arrive, and whatever is not of the form that is read for. */
import { parseConversationId, parseTenantId } from '@qim/proto';
import { describe, expect, test } from 'vitest';
import { sequenceToBytes } from '../src/message/bytes.js';
import { KEY_NAMES, KeySpace } from '../src/redis/keys.js';
import { Replies, ReplyScanner, type ScanState, UnexpectedReply } from '../src/redis/wire-replies.js';
import { encodedCommand, encodedWords, WireRequest } from '../src/redis/wire-request.js';
import { CHAT, seq, T7 } from './records.js';

const KEYS = new KeySpace(64).conversation(T7, CHAT);
const PLACE = new KeySpace(64).placeBytes().set(T7, CHAT);

function scanned(text: string, replies: number): { state: ScanState; replies: Replies; end: number } {
  const bytes = Buffer.from(text, 'latin1');
  const scanner = new ReplyScanner();
  scanner.begin(replies);
  const state = scanner.scan(bytes, bytes.length);
  return { state, replies: new Replies().of(bytes, scanner), end: scanner.end };
}

const WHOLE = '*2\r\n$3\r\nabc\r\n$-1\r\n$0\r\n\r\n*0\r\n';

test('values, nil, the empty value and arrays are read in their order', () => {
  const { state, replies, end } = scanned(WHOLE, 3);
  expect([state, end]).toEqual(['whole', WHOLE.length]);
  expect([replies.array(), replies.text(), replies.text(), replies.text(), replies.array()]).toEqual([2, 'abc', undefined, '', 0]);
  replies.done();
});

test('in whatever pieces they arrive, each byte is looked at where it lies', () => {
  const bytes = Buffer.from(WHOLE);
  for (let cut = 0; cut < bytes.length; cut += 1) {
    const scanner = new ReplyScanner();
    scanner.begin(3);
    expect(scanner.scan(bytes, cut), `${cut}`).toBe('more');
    expect(scanner.scan(bytes, bytes.length)).toBe('whole');
    const replies = new Replies().of(bytes, scanner);
    expect([replies.array(), replies.text()]).toEqual([2, 'abc']);
  }
});

test('what follows a round is left where it is', () => {
  expect(scanned('$1\r\na\r\n$1\r\nb\r\n', 1)).toMatchObject({ state: 'whole', end: '$1\r\na\r\n'.length });
});

test('a value with line ends in it is one value', () => {
  expect(scanned('$6\r\na\r\n$1\r\r\n', 1).replies.text()).toBe('a\r\n$1\r');
});

test('many more values than were thought of are kept', () => {
  const { replies } = scanned(`*20000\r\n${'$1\r\nx\r\n'.repeat(20_000)}`, 1);
  expect(replies.array()).toBe(20_000);
  replies.skip(20_000);
  replies.done();
});

describe('what is not read for', () => {
  test.each([
    ['a number', ':1\r\n'],
    ['a word', '+OK\r\n'],
    ['a length that is no number', '$x\r\n'],
    ['an array without a length', '*-1\r\n'],
    ['a length without an end', '$12345678901234'],
  ])('%s: the place in the stream is lost', (_, text) => {
    expect(scanned(text, 1).state).toBe('unexpected');
  });

  test('an error is passed over, and whoever reads it learns that it is not what was asked for', () => {
    const { state, replies, end } = scanned('-WRONGTYPE x\r\n$1\r\na\r\n', 2);
    expect([state, end]).toEqual(['whole', 21]);
    expect(() => replies.value()).toThrow(UnexpectedReply);
    expect(replies.text()).toBe('a');
    expect(() => scanned('-ERR\r\n', 1).replies.array()).toThrow(UnexpectedReply);
  });

  test('an error without an end is not waited for for ever', () => {
    expect(scanned('-ERR and no end', 1).state).toBe('more');
    expect(scanned(`-${'x'.repeat(5000)}`, 1).state).toBe('unexpected');
  });

  test('a value for an array, an array for a value, too few and too many', () => {
    expect(() => scanned('$1\r\na\r\n', 1).replies.array()).toThrow(UnexpectedReply);
    expect(() => scanned('*0\r\n', 1).replies.value()).toThrow(UnexpectedReply);
    expect(() => scanned('', 0).replies.value()).toThrow(UnexpectedReply);
    expect(() => scanned('', 0).replies.skip(1)).toThrow(UnexpectedReply);
    expect(() => scanned('$1\r\na\r\n', 1).replies.done()).toThrow(UnexpectedReply);
  });
});

test.each(['0', '1', '9007199254740991'])('%s is a decimal number', (digits) => {
  expect(scanned(`$${digits.length}\r\n${digits}\r\n`, 1).replies.decimal()).toBe(Number(digits));
});

test.each(['', '01', '-1', '1.5', 'x', '9007199254740992', '12345678901234567'])('%j is no decimal number', (text) => {
  expect(() => scanned(`$${text.length}\r\n${text}\r\n`, 1).replies.decimal()).toThrow(UnexpectedReply);
  expect(() => scanned('$-1\r\n', 1).replies.decimal()).toThrow(UnexpectedReply);
});

test('a request is what every client sends, however little room was thought of', () => {
  for (const bytes of [1, 1_000]) {
    const request = new WireRequest(Buffer.alloc(bytes));
    request.command(4);
    request.words(encodedWords(['HMGET']));
    request.key(Buffer.from('msgrecord:'), PLACE, 12);
    request.number(seq(2 ** 53 - 1));
    request.words(encodedWords(['é']));
    request.group(1);
    expect(request.bytes).toEqual(encodedCommand(['HMGET', KEYS.records(12), '9007199254740991', 'é']));
    expect([request.commands, request.groups]).toEqual([1, [1]]);
  }
});

test.each([9, 10, 99, 100, 204])('a command of %d arguments says so', (count) => {
  const request = new WireRequest(Buffer.alloc(1));
  request.command(count);
  expect(request.bytes.toString()).toBe(`*${count}\r\n`);
});

test.each([0, 1, 9, 10, 999, 1_000, 9_999, 10_000, 2 ** 30 - 1, 2 ** 30, 2 ** 31, 99_999_999_999, 2 ** 53 - 1])(
  '%d is sent in decimal text',
  (number) => {
    const request = new WireRequest(Buffer.alloc(1));
    request.number(number);
    expect(request.bytes).toEqual(encodedWords([String(number)]));
  },
);

test.each(['facts', 'history', 'members'] as const)('the key of %s is spelled without a string as it is with one', (kind) => {
  for (const count of [1, 64]) {
    const keys = new KeySpace(count);
    const place = keys.placeBytes();
    for (const [tenant, id] of [
      [0, 'g_1'],
      [4_294_967_295, `d_${'x'.repeat(62)}`],
      [7, 'A-_9'],
    ] as const) {
      const [tenantId, conversationId] = [parseTenantId(tenant), parseConversationId(id)];
      const request = new WireRequest(Buffer.alloc(1));
      request.key(Buffer.from(KEY_NAMES[kind]), place.set(tenantId, conversationId));
      expect(request.bytes).toEqual(encodedWords([keys.conversation(tenantId, conversationId)[kind]]));
    }
  }
});

test('the bound of a range holds the bytes of the index', () => {
  for (const sequence of [0, 1, 255, 256, 2 ** 32, 2 ** 53 - 1]) {
    const request = new WireRequest(Buffer.alloc(1));
    request.after(seq(sequence));
    expect(request.bytes.subarray(5, 13)).toEqual(Buffer.from(sequenceToBytes(seq(sequence))));
    expect(request.bytes.toString('latin1')).toMatch(/^\$9\r\n\(/);
  }
});
