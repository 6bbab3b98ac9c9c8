import { parseConversationSeq, Role } from '@qim/proto';
import { expect, test } from 'vitest';
import { mayKnowOfReading, tellsOfReading } from '../src/message/receipts.js';

const seq = parseConversationSeq;
const member = (joinedSeq: number, visibleFrom: number) => ({
  role: Role.Member,
  joinedSeq: seq(joinedSeq),
  visibleFrom: seq(visibleFrom),
});

test('a mark tells of reading from where one joined, also where the past shows', () => {
  expect([4, 5, 6].map((mark) => tellsOfReading(member(5, 1), seq(mark)))).toEqual([false, true, true]);
});

test('a mark tells of reading from what one sees', () => {
  expect([6, 7, 8].map((mark) => tellsOfReading(member(5, 7), seq(mark)))).toEqual([false, true, true]);
});

test('others know of it who see what was read, whenever they joined', () => {
  expect([4, 5, 6].map((mark) => mayKnowOfReading(member(9, 5), seq(mark)))).toEqual([false, true, true]);
});
