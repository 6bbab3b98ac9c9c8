/** When the end of the list is followed. */
import { expect, test } from 'vitest';
import { Follow } from '../src/chat/follow.js';
import type { Item } from '../src/chat/items.js';
import { MANY_AT_ONCE } from '../src/chat/use-unread-line.js';

const message = (clientMessageId: string): Item => ({ kind: 'message', message: { clientMessageId } }) as Item;
const outgoing = (clientMessageId: string): Item => ({ kind: 'outgoing', message: { clientMessageId } }) as Item;
const some = (count: number, from = 0): Item[] => Array.from({ length: count }, (_, n) => message(`m${from + n}`));

test('what comes is followed by one who is at the end, up to the bound at once', () => {
  const first = some(3);
  const follow = new Follow(first, false);
  expect(follow.decide(true)).toBe(false);
  const few = [...first, ...some(MANY_AT_ONCE, 10)];
  follow.took(few, false);
  follow.took(few, false);
  expect([follow.decide(true), follow.decide(false)]).toEqual(['auto', false]);
  follow.took([...few, ...some(MANY_AT_ONCE + 1, 100)], false);
  expect(follow.decide(true)).toBe(false);
});

test('what is loaded above, or after a part of the past, is not followed', () => {
  const first = some(3);
  const follow = new Follow(first, false);
  follow.took([...some(5, 10), ...first], false);
  expect(follow.decide(true)).toBe(false);
  const part = some(4, 50);
  follow.took(part, true);
  follow.took([...part, ...some(2, 60)], true);
  expect(follow.decide(true)).toBe(false);
  follow.took([...part, ...some(3, 60)], false);
  expect(follow.decide(true)).toBe(false);
});

test('one’s own message is followed when it is written and when it arrives, not while it is on its way', () => {
  const first = some(3);
  const follow = new Follow(first, false);
  follow.took([...first, outgoing('own')], false);
  expect(follow.decide(true)).toBe('auto');
  follow.took([...first, outgoing('own')], false);
  expect(follow.decide(true)).toBe(false);
  follow.took([...first, message('own')], false);
  expect(follow.decide(true)).toBe('auto');
});

test('one’s own message that arrives among many is not followed', () => {
  const follow = new Follow([outgoing('own')], false);
  follow.took([...some(MANY_AT_ONCE + 1), message('own')], false);
  expect(follow.decide(true)).toBe(false);
});
