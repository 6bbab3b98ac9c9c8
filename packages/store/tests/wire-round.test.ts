/** A round whose replies come in groups: each is read once, in its order, and what is unexpected spoils the round alone. */
import { expect, test } from 'vitest';
import { Replies as Reader, type Replies, ReplyScanner } from '../src/redis/wire-replies.js';
import { WireRound } from '../src/redis/wire-round.js';

const scanner = new ReplyScanner();
const reader = new Reader();

function replies(text: string, count: number): Replies {
  const bytes = Buffer.from(text);
  scanner.begin(count);
  expect(scanner.scan(bytes, bytes.length)).toBe('whole');
  return reader.of(bytes, scanner);
}

function roundOf(groups: readonly number[], read: (replies: Replies, group: number) => unknown) {
  const told: unknown[] = [];
  const made: unknown[] = [];
  const round = new WireRound(
    groups,
    (each, group) => made.push(read(each, group)),
    (whole) => told.push(whole),
    (error) => told.push(error),
  );
  return { round, told, made };
}

const A = '$1\r\na\r\n';
const ERROR = '-WRONGTYPE x\r\n';

test('groups are read one after the other, and then it is over', () => {
  const { round, told, made } = roundOf([2, 1], (each, group) => [group, each.text(), group === 0 ? each.text() : undefined]);
  expect([round.nextReplies, round.isOver]).toEqual([2, false]);
  round.take(replies(A + A, 2));
  expect([round.nextReplies, round.isOver]).toEqual([1, false]);
  round.take(replies(A, 1));
  expect([round.nextReplies, round.isOver]).toEqual([0, true]);
  round.settle();
  expect(told).toEqual([true]);
  expect(made).toEqual([
    [0, 'a', 'a'],
    [1, 'a', undefined],
  ]);
});

test.each([
  ['an error', ERROR, 1],
  ['more than is read', A + A, 2],
])('after %s the rest is passed over, and the round is answered elsewhere', (_, text, count) => {
  const { round, told, made } = roundOf([count, 1], (each) => each.text());
  round.take(replies(text, count));
  const before = made.length;
  round.take(replies(A, 1));
  round.settle();
  expect([told, made.length, round.isOver]).toEqual([[false], before, true]);
});

test('a fault of the reader is its caller’s, and does not end the round', () => {
  const fault = new Error('of ours');
  const { round, told } = roundOf([1, 1], () => {
    throw fault;
  });
  round.take(replies(A, 1));
  round.take(replies(A, 1));
  round.settle();
  expect(told).toEqual([fault, false]);
});

test('a round that is lost is answered elsewhere', () => {
  const { round, told } = roundOf([1], (each) => each.text());
  round.lose();
  expect(told).toEqual([false]);
});
