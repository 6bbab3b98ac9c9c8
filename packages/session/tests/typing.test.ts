/** Who is told that somebody is writing, and how often. */
import { parseUserId, TYPING_CONVERSATIONS_MAX, TYPING_MEMBERS_MAX, TYPING_PER_WINDOW_MAX, TYPING_WINDOW_MS } from '@qim/proto';
import { describe, expect, test } from 'vitest';
import { TypingRate } from '../src/typing-rate.js';
import { ALICE, BOB, CAROL, caller, openWorld, refusal, room, T0 } from './support.js';

const G = room('a');
const people = (count: number) => Array.from({ length: count }, (_, n) => parseUserId(`u${n}`));

describe('typing', () => {
  test('is told to the other members', async () => {
    const w = openWorld();
    await w.group(G, [ALICE, BOB, CAROL]);
    await w.session.setTyping(caller(BOB), G, true);
    await w.session.setTyping(caller(BOB), G, false);
    expect(w.announced).toEqual([`bob ${G} writes alice carol`, `bob ${G} stopped alice carol`]);
  });

  test('is of members alone', async () => {
    const w = openWorld();
    await w.group(G, [ALICE, BOB]);
    expect(await refusal(w.session.setTyping(caller(CAROL), G, true))).toBe('NotMember');
    expect(w.announced).toEqual([]);
  });

  test('of TYPING_MEMBERS_MAX members is told, and of one more to nobody', async () => {
    const w = openWorld();
    await w.group(G, people(TYPING_MEMBERS_MAX));
    await w.session.setTyping(caller(parseUserId('u1')), G, true);
    expect(w.announced).toHaveLength(1);
    const larger = openWorld();
    await larger.group(G, people(TYPING_MEMBERS_MAX + 1));
    await larger.session.setTyping(caller(parseUserId('u1')), G, true);
    expect(larger.announced).toEqual([]);
  });

  test('is not told to whom has blocked the one who writes', async () => {
    const w = openWorld();
    const direct = room('d');
    await w.direct(direct, ALICE, BOB);
    await w.store.users.block(T0, ALICE, BOB);
    await w.session.setTyping(caller(BOB), direct, true);
    await w.session.setTyping(caller(ALICE), direct, true);
    expect(w.announced).toEqual([`alice ${direct} writes bob`]);
  });

  test('is told TYPING_PER_WINDOW_MAX times in a window, and again in the next', async () => {
    const w = openWorld();
    await w.group(G, [ALICE, BOB]);
    for (let n = 0; n <= TYPING_PER_WINDOW_MAX; n += 1) await w.session.setTyping(caller(BOB), G, true);
    expect(w.announced).toHaveLength(TYPING_PER_WINDOW_MAX);
    w.clock.nowMs += TYPING_WINDOW_MS;
    await w.session.setTyping(caller(BOB), G, true);
    expect(w.announced).toHaveLength(TYPING_PER_WINDOW_MAX + 1);
  });
});

test('the typing of TYPING_CONVERSATIONS_MAX conversations is counted, and of one more refused', () => {
  const rate = new TypingRate();
  for (let n = 0; n < TYPING_CONVERSATIONS_MAX; n += 1) expect(rate.admit(`c${n}`, 1_000)).toBe(true);
  expect(rate.admit('one more', 1_000)).toBe(false);
  expect(rate.admit('c0', 1_000)).toBe(true);
  // A clock that is set back begins anew.
  expect(rate.admit('one more', 999)).toBe(true);
});
