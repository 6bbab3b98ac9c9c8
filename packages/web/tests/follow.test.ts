/** When the end of the list is followed. */
import { expect, test } from 'vitest';
import { Follow } from '../src/chat/follow.js';
import type { Item } from '../src/chat/items.js';
import { MANY_AT_ONCE } from '../src/chat/use-unread-line.js';

const message = (clientMessageId: string): Item => ({ kind: 'message', message: { clientMessageId } }) as Item;
const outgoing = (clientMessageId: string): Item => ({ kind: 'outgoing', message: { clientMessageId } }) as Item;
const some = (count: number, from = 0): Item[] => Array.from({ length: count }, (_, n) => message(`m${from + n}`));

/** Whether they are followed by one who is at the end, or not. */
function follows(follow: Follow, items: readonly Item[], { past = false, isAtEnd = true, generation = 0 } = {}): boolean {
  follow.took(items, past, generation, () => isAtEnd);
  return follow.due();
}

test('what comes is followed by one who is at the end, up to the bound at once', () => {
  const first = some(3);
  const follow = new Follow(first, false, 0);
  expect(follow.due()).toBe(false);
  const few = [...first, ...some(MANY_AT_ONCE, 10)];
  expect(follows(follow, few)).toBe(true);
  expect(follows(follow, few)).toBe(false);
  const more = [...few, ...some(1, 50)];
  expect(follows(follow, more, { isAtEnd: false })).toBe(false);
  expect(follows(follow, [...more, ...some(MANY_AT_ONCE + 1, 100)])).toBe(false);
});

test('what is loaded above, or after a part of the past, and a list that begins anew are not followed', () => {
  const first = some(3);
  const follow = new Follow(first, false, 0);
  expect(follows(follow, [...some(5, 10), ...first])).toBe(false);
  const part = some(4, 50);
  expect(follows(follow, part, { past: true })).toBe(false);
  expect(follows(follow, [...part, ...some(2, 60)], { past: true })).toBe(false);
  expect(follows(follow, [...part, ...some(3, 60)])).toBe(false);
  expect(follows(follow, [...part, ...some(4, 60)], { generation: 1 })).toBe(false);
  expect(follows(follow, [...part, ...some(5, 60)], { generation: 1 })).toBe(true);
});

test('one’s own message is followed when it is written and when it arrives, not while it is on its way', () => {
  const first = some(3);
  const follow = new Follow(first, false, 0);
  expect(follows(follow, [...first, outgoing('own')])).toBe(true);
  expect(follows(follow, [...first, outgoing('own')])).toBe(false);
  expect(follows(follow, [...first, message('own')])).toBe(true);
});

test('one’s own message that arrives among many is not followed', () => {
  const follow = new Follow([outgoing('own')], false, 0);
  expect(follows(follow, [...some(MANY_AT_ONCE + 1), message('own')])).toBe(false);
});
