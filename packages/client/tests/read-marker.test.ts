import { MARK_OWN_DELAY_MS, MARK_OWN_WAITING_MAX, MARK_READ_DELAY_MS, READ_MARKS_WAITING_MAX } from '@qim/proto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { environmentFrom } from '../src/environment.js';
import { clientError, QimClientError } from '../src/errors.js';
import { ReadMarker } from '../src/read-marker.js';
import { FakeSocket } from './support/fake-socket.js';

let calls: [string, number][];
let answer: () => Promise<number>;
let held: Map<string, number>;
/** What waited, at each change. */
let waiting: [string, number][][];
let marker: ReadMarker;

beforeEach(() => {
  vi.useFakeTimers();
  calls = [];
  held = new Map();
  waiting = [];
  answer = () => Promise.resolve(0);
  marker = new ReadMarker({
    api: {
      markRead: (id, seq) => {
        calls.push([id, seq]);
        return answer();
      },
    },
    environment: environmentFrom({ WebSocket: FakeSocket }),
    heldMark: (id) => held.get(id),
    marked: () => {},
    changed: () => waiting.push([...marker.waiting]),
  });
});

afterEach(() => {
  marker.close();
  vi.useRealTimers();
});

async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
}

test('the first mark goes at once, those that follow closely as one', async () => {
  marker.shown('g_1', 1);
  await pass(0);
  for (const seq of [2, 4, 3]) marker.shown('g_1', seq);
  await pass(MARK_READ_DELAY_MS - 1);
  expect(calls).toEqual([['g_1', 1]]);
  await pass(1);
  expect(calls).toEqual([
    ['g_1', 1],
    ['g_1', 4],
  ]);
});

test('what the list has as read already is not asked for', async () => {
  held.set('g_1', 5);
  marker.shown('g_1', 5);
  await pass(MARK_READ_DELAY_MS);
  expect(calls).toEqual([]);
});

test('a mark that could not be sent waits for the link, and one that is refused is let go', async () => {
  answer = () => Promise.reject(clientError('CONNECTION_LOST', 'lost', true));
  marker.shown('g_1', 1);
  await pass(MARK_READ_DELAY_MS * 3);
  expect(calls.length).toBe(1);
  answer = () => Promise.reject(new QimClientError({ code: 'not_found', reason: 'NOT_MEMBER', message: 'no' }));
  marker.flush();
  await pass(MARK_READ_DELAY_MS);
  marker.flush();
  await pass(MARK_READ_DELAY_MS);
  expect(calls.length).toBe(2);
});

test('marks of as many conversations wait as the bound says; one more is dropped', async () => {
  for (let n = 0; n <= READ_MARKS_WAITING_MAX; n += 1) marker.shown(`g_${n}`, 1);
  await pass(0);
  expect(calls.length).toBe(READ_MARKS_WAITING_MAX);
});

test("a message of one's own is read once it is acknowledged, when everything before it is: 201 of them never look unread", async () => {
  answer = async () => calls.at(-1)?.[1] ?? 0;
  for (let seq = 1; seq <= 201; seq += 1) {
    marker.sent('g_1', seq, undefined);
    await pass(MARK_READ_DELAY_MS);
    expect(seq - (calls.at(-1)?.[1] ?? 0)).toBeLessThan(MARK_OWN_WAITING_MAX);
  }
  await pass(MARK_OWN_DELAY_MS);
  expect(calls.at(-1)).toEqual(['g_1', 201]);
  expect(calls.length).toBeLessThan(201 / 2);
});

test("messages of one's own in a burst are marked together, and before as many as the bound wait", async () => {
  answer = async () => calls.at(-1)?.[1] ?? 0;
  for (let seq = 1; seq < MARK_OWN_WAITING_MAX; seq += 1) marker.sent('g_1', seq, undefined);
  await pass(MARK_OWN_DELAY_MS - 1);
  expect(calls).toEqual([]);
  marker.sent('g_1', MARK_OWN_WAITING_MAX, undefined);
  await pass(0);
  expect(calls).toEqual([['g_1', MARK_OWN_WAITING_MAX]]);
});

test.each([
  ['the client was closed', clientError('CLIENT_CLOSED', 'closed', true)],
  ['the token was refused for good', new QimClientError({ code: 'unauthenticated', reason: 'TOKEN_EXPIRED', message: '' })],
])('a mark that was under way when %s waits', async (_, error) => {
  answer = () => Promise.reject(error);
  marker.shown('g_1', 5);
  await pass(MARK_READ_DELAY_MS);
  expect([...marker.waiting]).toEqual([['g_1', 5]]);
});

test("a mark for what was shown does not wait for one's own", async () => {
  marker.sent('g_1', 1, undefined);
  marker.shown('g_2', 7);
  await pass(0);
  expect(calls).toEqual([
    ['g_1', 1],
    ['g_2', 7],
  ]);
});

test('what waits is marked at the end, and a mark is known as one of this client from when it is asked for', async () => {
  marker.sent('g_1', 3, 0);
  expect([marker.isOwn('g_1', 3), marker.isOwn('g_1', 4), marker.isOwn('g_2', 1)]).toEqual([true, false, false]);
  marker.close();
  expect(calls).toEqual([['g_1', 3]]);
  marker.shown('g_1', 9);
  await pass(MARK_OWN_DELAY_MS);
  expect(calls.length).toBe(1);
});

test("a message of one's own marks nothing when somebody's before it was not on screen", async () => {
  held.set('g_1', 3);
  marker.sent('g_1', 5, 4);
  marker.sent('g_1', 6, undefined);
  await pass(MARK_OWN_DELAY_MS);
  expect(calls).toEqual([]);
});

test("a hole before a message of one's own is nothing unread, where it is known to be a hole", async () => {
  held.set('g_1', 3);
  marker.sent('g_1', 9, 3);
  await pass(MARK_OWN_DELAY_MS);
  expect(calls).toEqual([['g_1', 9]]);
});

test('what waits is told until the server has answered, also after the end', async () => {
  answer = () => Promise.reject(clientError('NOT_CONNECTED', 'no link'));
  marker.shown('g_1', 5);
  marker.shown('g_1', 7);
  await pass(MARK_READ_DELAY_MS);
  expect(waiting).toEqual([[['g_1', 5]], [['g_1', 7]]]);
  marker.close();
  await pass(MARK_READ_DELAY_MS);
  expect([...marker.waiting]).toEqual([['g_1', 7]]);
});

test('what an earlier start left is sent, but for what the list holds by now', async () => {
  held.set('g_1', 9);
  marker.adopt(
    new Map([
      ['g_1', 9],
      ['g_2', 4],
    ]),
  );
  await pass(0);
  expect(calls).toEqual([['g_2', 4]]);
  expect([...marker.waiting]).toEqual([]);
});
