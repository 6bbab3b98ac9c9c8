/** Cases: what a user has cleared of a conversation. */
import { expect } from 'vitest';
import { type Fixture, OTHER_TENANT, seq, TENANT } from './fixture.js';
import type { Cases } from './suite.js';

function start(fixture: Fixture) {
  const { directory } = fixture.store;
  const [bob, chat] = [fixture.user('bob'), fixture.conversationId()];
  const join = (at: number) =>
    directory.join(TENANT, chat, [{ userId: bob, joinedSeq: seq(at), visibleFrom: seq(at) }], {
      conversationSeq: seq(at),
      activityAtMs: at,
    });
  return { directory, bob, chat, join, view: () => directory.view(TENANT, bob, chat) };
}

export const clearing: Cases = {
  async 'of many users is told in their order, with 0 for who cleared nothing and who never had it'(fixture) {
    const { directory, bob, chat, join } = start(fixture);
    const [carol, stranger] = [fixture.user('carol'), fixture.user('stranger')];
    await join(1);
    await directory.join(TENANT, chat, [{ userId: carol, joinedSeq: seq(1), visibleFrom: seq(1) }], {
      conversationSeq: seq(1),
      activityAtMs: 1,
    });
    await directory.clear(TENANT, bob, chat, seq(7));
    expect(await directory.clearedSeqs(TENANT, chat, [stranger, bob, carol, bob])).toEqual([0, 7, 0, 7]);
    expect(await directory.clearedSeqs(OTHER_TENANT, chat, [bob])).toEqual([0]);
    expect(await directory.clearedSeqs(TENANT, chat, [])).toEqual([]);
  },

  async 'only rises, in whatever order it is asked, and is seen in view and page'(fixture) {
    const { directory, bob, chat, join, view } = start(fixture);
    await join(1);
    expect((await view())?.clearedSeq).toBe(0);
    const asked = Array.from({ length: 50 }, (_, i) => ((i * 37) % 50) + 1);
    const held = await Promise.all(asked.map((value) => directory.clear(TENANT, bob, chat, seq(value))));
    for (const [i, value] of held.entries()) expect(value).toBeGreaterThanOrEqual(asked[i] ?? 0);
    expect(await directory.clear(TENANT, bob, chat, seq(9))).toBe(50);
    expect(await directory.clear(TENANT, bob, chat, seq(2 ** 53 - 1))).toBe(2 ** 53 - 1);
    expect((await view())?.clearedSeq).toBe(2 ** 53 - 1);
    expect((await directory.page(TENANT, bob, 10, undefined)).views[0]?.clearedSeq).toBe(2 ** 53 - 1);
  },

  async 'raises nothing else'(fixture) {
    const { directory, bob, chat, join, view } = start(fixture);
    await join(3);
    await directory.raiseRead(TENANT, bob, chat, seq(2));
    const before = await view();
    await directory.clear(TENANT, bob, chat, seq(7));
    expect(await view()).toEqual({ ...before, clearedSeq: 7 });
  },

  async 'is kept by a leave and by the join after it'(fixture) {
    const { directory, bob, chat, join, view } = start(fixture);
    await join(1);
    await directory.clear(TENANT, bob, chat, seq(4));
    await directory.leave(TENANT, chat, [bob], seq(5));
    expect(await view()).toBeUndefined();
    await join(8);
    expect(await view()).toMatchObject({ joinedSeq: 8, clearedSeq: 4 });
  },

  async 'without a view it is none, and holds once the join arrives'(fixture) {
    const { directory, bob, chat, join, view } = start(fixture);
    expect(await directory.clear(TENANT, bob, chat, seq(4))).toBe(4);
    expect(await view()).toBeUndefined();
    expect((await directory.page(TENANT, bob, 10, undefined)).views).toEqual([]);
    await join(1);
    expect(await view()).toMatchObject({ joinedSeq: 1, clearedSeq: 4 });
  },

  async 'is per user, tenant and conversation'(fixture) {
    const { directory, bob, chat, join, view } = start(fixture);
    await join(1);
    await directory.clear(OTHER_TENANT, bob, chat, seq(3));
    await directory.clear(TENANT, fixture.user('carol'), chat, seq(3));
    await directory.clear(TENANT, bob, fixture.conversationId(), seq(3));
    expect((await view())?.clearedSeq).toBe(0);
  },
};
