/** Cases: lists, read marks and floors, whatever the order and number of deliveries. */
import { type ConversationId, type ConversationSeq, DEDUP_WEEK_MS, parseUserId, type UserId } from '@qim/proto';
import { expect } from 'vitest';
import type { Directory, DirectoryCursor } from '../../directory/directory.js';
import { type Fixture, OTHER_TENANT, seq, TENANT } from './fixture.js';
import type { Cases } from './suite.js';

const activity = (conversationSeq: number, activityAtMs: number) => ({ conversationSeq: seq(conversationSeq), activityAtMs });

function start(fixture: Fixture) {
  return { directory: fixture.store.directory, bob: fixture.user('bob'), chat: fixture.conversationId() };
}

function joined(userId: UserId, joinedSeq = 1, visibleFrom = joinedSeq) {
  return { userId, joinedSeq: seq(joinedSeq), visibleFrom: seq(visibleFrom) };
}

/** All pages of the list. */
async function listed(directory: Directory, userId: UserId, limit = 100, tenantId = TENANT): Promise<ConversationId[]> {
  const all: ConversationId[] = [];
  let cursor: DirectoryCursor | undefined;
  do {
    const { views, next } = await directory.page(tenantId, userId, limit, cursor);
    all.push(...views.map(({ conversationId }) => conversationId));
    cursor = next;
  } while (cursor !== undefined);
  return all;
}

/** Every order of the items. */
function orders<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, i) => orders([...items.slice(0, i), ...items.slice(i + 1)]).map((rest) => [item, ...rest]));
}

export const joinsAndLeaves: Cases = {
  async 'who joins has the conversation, with floors and nothing read'(fixture) {
    const { directory, bob, chat } = start(fixture);
    expect(await directory.view(TENANT, bob, chat)).toBeUndefined();
    expect(await directory.page(TENANT, bob, 50, undefined)).toEqual({ views: [], next: undefined });
    await directory.join(TENANT, chat, [joined(bob, 5, 2)], activity(5, 1_000));
    const view = {
      conversationId: chat,
      readSeq: 0,
      joinedSeq: 5,
      visibleFrom: 2,
      clearedSeq: 0,
      memberSeq: 5,
      flags: { pinned: false, muted: false, hidden: false, markedUnread: false },
    };
    expect(await directory.view(TENANT, bob, chat)).toEqual(view);
    expect(await directory.page(TENANT, bob, 50, undefined)).toEqual({ views: [view], next: undefined });
  },

  async 'many join in one call'(fixture) {
    const { directory, chat } = start(fixture);
    const users = Array.from({ length: 200 }, (_, i) => fixture.user(`u${i}`));
    await directory.join(
      TENANT,
      chat,
      users.map((user) => joined(user)),
      activity(1, 1_000),
    );
    for (const user of users) expect(await listed(directory, user)).toEqual([chat]);
  },

  async 'who leaves has it no more, and a late touch or an older join does not bring it back'(fixture) {
    const { directory, bob, chat } = start(fixture);
    await directory.join(TENANT, chat, [joined(bob, 3)], activity(3, 1_000));
    await directory.leave(TENANT, chat, [bob], seq(7));
    await directory.touch(TENANT, chat, [bob], activity(9, 9_000));
    await directory.join(TENANT, chat, [joined(bob, 3)], activity(3, 1_000));
    expect(await directory.view(TENANT, bob, chat)).toBeUndefined();
    expect(await listed(directory, bob)).toEqual([]);
  },

  async 'who comes back has it with new floors, and keeps the read mark'(fixture) {
    const { directory, bob, chat } = start(fixture);
    await directory.join(TENANT, chat, [joined(bob, 1)], activity(1, 1_000));
    await directory.raiseRead(TENANT, bob, chat, seq(4));
    await directory.leave(TENANT, chat, [bob], seq(5));
    await directory.join(TENANT, chat, [joined(bob, 9)], activity(9, 2_000));
    expect(await directory.view(TENANT, bob, chat)).toMatchObject({ joinedSeq: 9, visibleFrom: 9, memberSeq: 9, readSeq: 4 });
    await directory.leave(TENANT, chat, [bob], seq(5));
    expect(await listed(directory, bob)).toEqual([chat]);
  },

  async 'joins, leaves and touches end the same in every order, and delivered twice'(fixture) {
    const { directory } = start(fixture);
    const deliveries: readonly ((chat: ConversationId, user: UserId) => Promise<void>)[] = [
      (chat, user) => directory.join(TENANT, chat, [joined(user, 2)], activity(2, 2_000)),
      (chat, user) => directory.touch(TENANT, chat, [user], activity(3, 3_000)),
      (chat, user) => directory.leave(TENANT, chat, [user], seq(5)),
      (chat, user) => directory.join(TENANT, chat, [joined(user, 8)], activity(8, 8_000)),
      (chat, user) => directory.leave(TENANT, chat, [user], seq(12)),
    ];
    for (const [kept, last] of [
      [4, 8],
      [5, undefined],
    ] as const) {
      await Promise.all(
        orders(deliveries.slice(0, kept)).map(async (order, i) => {
          const [chat, user] = [fixture.conversationId(), fixture.user(`${kept} ${i}`)];
          for (const deliver of order) await deliver(chat, user);
          for (const deliver of order.toReversed()) await deliver(chat, user);
          expect((await directory.view(TENANT, user, chat))?.memberSeq).toBe(last);
          expect(await listed(directory, user)).toEqual(last === undefined ? [] : [chat]);
        }),
      );
    }
  },

  async 'a touch alone lists nothing'(fixture) {
    const { directory, bob, chat } = start(fixture);
    await directory.touch(TENANT, chat, [bob], activity(3, 3_000));
    expect(await listed(directory, bob)).toEqual([]);
    expect(await directory.view(TENANT, bob, chat)).toBeUndefined();
  },

  async 'tenants are apart'(fixture) {
    const { directory, bob, chat } = start(fixture);
    await directory.join(TENANT, chat, [joined(bob)], activity(1, 1_000));
    await directory.raiseRead(TENANT, bob, chat, seq(1));
    expect(await listed(directory, bob, 50, OTHER_TENANT)).toEqual([]);
    await directory.join(OTHER_TENANT, chat, [joined(bob, 3)], activity(3, 1_000));
    expect(await directory.view(OTHER_TENANT, bob, chat)).toMatchObject({ joinedSeq: 3, readSeq: 0 });
    await directory.leave(OTHER_TENANT, chat, [bob], seq(4));
    expect(await listed(directory, bob)).toEqual([chat]);
  },

  async 'users whose ids look alike in a key are apart'(fixture) {
    const { directory } = start(fixture);
    const users = ['a:b', 'a%3Ab', 'a', 'A', 'a b', '{a}', '用户'].map((name) => parseUserId(name));
    for (const user of users) {
      const chat = fixture.conversationId();
      await directory.join(TENANT, chat, [joined(user)], activity(1, 1_000));
      expect(await listed(directory, user)).toEqual([chat]);
    }
  },
};

async function chatsOf(fixture: Fixture, userId: UserId, activities: readonly number[]): Promise<ConversationId[]> {
  const chats: ConversationId[] = [];
  for (const activityAtMs of activities) {
    const chat = fixture.conversationId();
    await fixture.store.directory.join(TENANT, chat, [joined(userId)], activity(1, activityAtMs));
    chats.push(chat);
  }
  return chats;
}

export const paging: Cases = {
  async 'the newest activity comes first, and a touch moves up but never down'(fixture) {
    const { directory, bob } = start(fixture);
    const [a, b, c] = (await chatsOf(fixture, bob, [1_000, 2_000, 3_000])) as [ConversationId, ConversationId, ConversationId];
    expect(await listed(directory, bob)).toEqual([c, b, a]);
    await directory.touch(TENANT, a, [bob], activity(2, 4_000));
    expect(await listed(directory, bob)).toEqual([a, c, b]);
    await directory.touch(TENANT, a, [bob], activity(1, 500));
    await directory.join(TENANT, a, [joined(bob)], activity(1, 1_000));
    expect(await listed(directory, bob)).toEqual([a, c, b]);
  },

  async 'equal times come by conversation id, descending, and no page loses or repeats one'(fixture) {
    const { directory, bob } = start(fixture);
    const chats = await chatsOf(
      fixture,
      bob,
      Array.from({ length: 45 }, (_, i) => (i % 3 === 0 ? 1_000 : 2_000)),
    );
    const byId = (ids: ConversationId[]) => ids.sort((x, y) => (x < y ? 1 : -1));
    const expected = [...byId(chats.filter((_, i) => i % 3 !== 0)), ...byId(chats.filter((_, i) => i % 3 === 0))];
    for (const limit of [1, 7, 20, 45, 100]) expect(await listed(directory, bob, limit)).toEqual(expected);
  },

  async 'a page has at most its limit, and the last one says so'(fixture) {
    const { directory, bob } = start(fixture);
    await chatsOf(fixture, bob, [1, 2, 3, 4]);
    const first = await directory.page(TENANT, bob, 2, undefined);
    expect(first.views).toHaveLength(2);
    expect(first.next).toEqual({ activityAtMs: 3, conversationId: first.views[1]?.conversationId });
    const second = await directory.page(TENANT, bob, 2, first.next);
    expect(second.views).toHaveLength(2);
    expect(second.next).toBeUndefined();
  },

  async 'a conversation that moves while one pages is in the union of the pages (37)'(fixture) {
    const { directory, bob } = start(fixture);
    const chats = await chatsOf(
      fixture,
      bob,
      Array.from({ length: 60 }, (_, i) => 1_000 + i),
    );
    const first = await directory.page(TENANT, bob, 20, undefined);
    const moving = chats[5] ?? never();
    await directory.touch(TENANT, moving, [bob], activity(2, 9_000));
    const second = await directory.page(TENANT, bob, 20, first.next);
    const third = await directory.page(TENANT, bob, 20, second.next);
    expect(third.next).toBeUndefined();
    const again = await directory.page(TENANT, bob, 20, undefined);
    const union = new Set([first, second, third, again].flatMap(({ views }) => views.map(({ conversationId }) => conversationId)));
    expect(union.size).toBe(60);
    const paged = [first, second, third].flatMap(({ views }) => views);
    expect(paged).toHaveLength(59);
  },

  async 'the cursor stands where it was when its own conversation has moved or gone'(fixture) {
    const { directory, bob } = start(fixture);
    const [a, b, c, d] = (await chatsOf(fixture, bob, [4, 3, 2, 1])) as [ConversationId, ConversationId, ConversationId, ConversationId];
    const { next } = await directory.page(TENANT, bob, 2, undefined);
    await directory.leave(TENANT, b, [bob], seq(2));
    await directory.touch(TENANT, a, [bob], activity(2, 9));
    const rest = await directory.page(TENANT, bob, 2, next);
    expect(rest.views.map(({ conversationId }) => conversationId)).toEqual([c, d]);
  },
};

function never(): never {
  throw new Error('unreachable');
}

export const readMarks: Cases = {
  async 'a read mark only rises, in whatever order it is asked (17)'(fixture) {
    const { directory, bob, chat } = start(fixture);
    await directory.join(TENANT, chat, [joined(bob)], activity(1, 1_000));
    expect(await directory.raiseRead(TENANT, bob, chat, seq(9))).toBe(9);
    expect(await directory.raiseRead(TENANT, bob, chat, seq(5))).toBe(9);
    expect((await directory.view(TENANT, bob, chat))?.readSeq).toBe(9);
    expect(await directory.raiseRead(TENANT, bob, chat, seq(2 ** 53 - 1))).toBe(2 ** 53 - 1);
    expect(await directory.raiseRead(TENANT, bob, chat, seq(2 ** 53 - 2))).toBe(2 ** 53 - 1);
  },

  async 'raised by many at once it ends at the greatest, and each is told what holds'(fixture) {
    const { directory, bob, chat } = start(fixture);
    await directory.join(TENANT, chat, [joined(bob)], activity(1, 1_000));
    const asked = Array.from({ length: 200 }, (_, i) => ((i * 37) % 200) + 1);
    const held = await Promise.all(asked.map((value) => directory.raiseRead(TENANT, bob, chat, seq(value))));
    for (const [i, value] of held.entries()) expect(value).toBeGreaterThanOrEqual(asked[i] ?? 0);
    expect((await directory.view(TENANT, bob, chat))?.readSeq).toBe(200);
  },

  async 'a read mark alone is no view, and lists nothing'(fixture) {
    const { directory, bob, chat } = start(fixture);
    await directory.raiseRead(TENANT, bob, chat, seq(3));
    expect(await directory.view(TENANT, bob, chat)).toBeUndefined();
    expect(await listed(directory, bob)).toEqual([]);
    await directory.join(TENANT, chat, [joined(bob)], activity(1, 1_000));
    const { views } = await directory.page(TENANT, bob, 10, undefined);
    expect(views[0]?.readSeq).toBe(3);
  },

  async 'marks are per user and conversation'(fixture) {
    const { directory, bob, chat } = start(fixture);
    const other = fixture.conversationId();
    await directory.join(TENANT, chat, [joined(bob)], activity(1, 1_000));
    await directory.join(TENANT, other, [joined(bob)], activity(1, 1_000));
    await directory.raiseRead(TENANT, bob, chat, seq(3));
    await directory.raiseRead(TENANT, fixture.user('carol'), other, seq(4));
    const read: (ConversationSeq | undefined)[] = [];
    for (const id of [chat, other]) read.push((await directory.view(TENANT, bob, id))?.readSeq);
    expect(read).toEqual([3, 0]);
  },
};

export const groupRequests: Cases = {
  async 'a client request makes one group, also when it is asked many times at once'(fixture) {
    const { directory, bob } = start(fixture);
    const candidates = Array.from({ length: 10 }, () => fixture.conversationId());
    const made = await Promise.all(candidates.map((id) => directory.groupForRequest(TENANT, bob, 'request 1', id)));
    expect(new Set(made).size).toBe(1);
    expect(candidates).toContain(made[0]);
    expect(await directory.groupForRequest(TENANT, bob, 'request 1', fixture.conversationId())).toBe(made[0]);
  },

  async 'requests are per user, tenant and id'(fixture) {
    const { directory, bob } = start(fixture);
    const ids = Array.from({ length: 4 }, () => fixture.conversationId()) as [
      ConversationId,
      ConversationId,
      ConversationId,
      ConversationId,
    ];
    expect(await directory.groupForRequest(TENANT, bob, 'r', ids[0])).toBe(ids[0]);
    expect(await directory.groupForRequest(TENANT, bob, 'r:', ids[1])).toBe(ids[1]);
    expect(await directory.groupForRequest(OTHER_TENANT, bob, 'r', ids[2])).toBe(ids[2]);
    expect(await directory.groupForRequest(TENANT, fixture.user('carol'), 'r', ids[3])).toBe(ids[3]);
  },

  async 'a clock that is set back over the end of a week forgets no request'(fixture) {
    const { directory, bob } = start(fixture);
    const made = fixture.conversationId();
    await directory.groupForRequest(TENANT, bob, 'request 1', made);
    await fixture.backend.advance(-DEDUP_WEEK_MS);
    expect(await directory.groupForRequest(TENANT, bob, 'request 1', fixture.conversationId())).toBe(made);
    await fixture.backend.advance(DEDUP_WEEK_MS);
  },
};
