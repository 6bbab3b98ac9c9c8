/** Cases: what a user chose for a conversation, and the order of a list with pins. */
import { type ConversationId, PINS_MAX, type UserId } from '@qim/proto';
import { expect } from 'vitest';
import type { Directory, DirectoryCursor, FlagsChange } from '../../directory/directory.js';
import { type Fixture, OTHER_TENANT, refusedWith, seq, TENANT } from './fixture.js';
import type { Cases } from './suite.js';

const NONE = { pinned: false, muted: false, hidden: false, markedUnread: false };
const at = (conversationSeq: number, activityAtMs = conversationSeq) => ({ conversationSeq: seq(conversationSeq), activityAtMs });

class Stage {
  readonly directory: Directory;
  readonly bob: UserId;
  readonly #fixture: Fixture;

  constructor(fixture: Fixture) {
    this.#fixture = fixture;
    this.directory = fixture.store.directory;
    this.bob = fixture.user('bob');
  }

  async joined(activityAtMs = 1): Promise<ConversationId> {
    const chat = this.#fixture.conversationId();
    await this.join(chat, 1, activityAtMs);
    return chat;
  }

  /** By activity, the oldest first. */
  async chats(count: number): Promise<ConversationId[]> {
    const chats: ConversationId[] = [];
    for (let n = 1; n <= count; n += 1) chats.push(await this.joined(n));
    return chats;
  }

  join(chat: ConversationId, joinedSeq: number, activityAtMs = joinedSeq): Promise<void> {
    const user = { userId: this.bob, joinedSeq: seq(joinedSeq), visibleFrom: seq(joinedSeq) };
    return this.directory.join(TENANT, chat, [user], at(joinedSeq, activityAtMs));
  }

  set(chat: ConversationId, change: FlagsChange, head = 5) {
    return this.directory.setFlags(TENANT, this.bob, chat, change, at(head));
  }

  async flags(chat: ConversationId) {
    return (await this.directory.view(TENANT, this.bob, chat))?.flags;
  }

  async list(limit = 100, between: (page: number) => Promise<void> = async () => {}): Promise<ConversationId[]> {
    const all: ConversationId[] = [];
    let cursor: DirectoryCursor | undefined;
    for (let page = 1; page === 1 || cursor !== undefined; page += 1) {
      const { views, next } = await this.directory.page(TENANT, this.bob, limit, cursor);
      expect(views.length).toBeLessThanOrEqual(limit);
      all.push(...views.map(({ conversationId }) => conversationId));
      cursor = next;
      await between(page);
    }
    return all;
  }
}

export const flags: Cases = {
  async 'change one by one, and are seen in view and page'(fixture) {
    const stage = new Stage(fixture);
    const chat = await stage.joined();
    expect(await stage.flags(chat)).toEqual(NONE);
    for (const name of ['muted', 'markedUnread', 'pinned'] as const) {
      expect(await stage.set(chat, { [name]: true })).toEqual({ ...NONE, [name]: true });
      expect(await stage.flags(chat)).toEqual({ ...NONE, [name]: true });
      const { views } = await stage.directory.page(TENANT, stage.bob, 10, undefined);
      expect(views.map((view) => view.flags)).toEqual([{ ...NONE, [name]: true }]);
      expect(await stage.set(chat, { [name]: false })).toEqual(NONE);
    }
    await stage.set(chat, { muted: true, markedUnread: true });
    expect(await stage.set(chat, {})).toEqual({ ...NONE, muted: true, markedUnread: true });
  },

  async 'are of those who have the conversation'(fixture) {
    const stage = new Stage(fixture);
    const chat = fixture.conversationId();
    expect(await stage.set(chat, { pinned: true, muted: true })).toBeUndefined();
    await stage.join(chat, 1);
    expect(await stage.flags(chat)).toEqual(NONE);
    await stage.directory.leave(TENANT, chat, [stage.bob], seq(3));
    expect(await stage.set(chat, { muted: true })).toBeUndefined();
  },

  async 'marked unread goes when the read mark is set, risen or not'(fixture) {
    const stage = new Stage(fixture);
    const chat = await stage.joined();
    await stage.directory.raiseRead(TENANT, stage.bob, chat, seq(4));
    await stage.set(chat, { markedUnread: true, muted: true });
    await stage.directory.raiseRead(TENANT, stage.bob, chat, seq(2));
    expect(await stage.flags(chat)).toEqual({ ...NONE, muted: true });
  },

  async 'a hidden conversation is in no list, and comes back with a new message alone'(fixture) {
    const stage = new Stage(fixture);
    const [old, chat] = (await stage.chats(2)) as [ConversationId, ConversationId];
    expect(await stage.set(chat, { hidden: true }, 5)).toEqual({ ...NONE, hidden: true });
    expect(await stage.list()).toEqual([old]);
    // What was delivered late, and the same join once more.
    await stage.directory.touch(TENANT, chat, [stage.bob], at(5, 50));
    await stage.join(chat, 1, 60);
    expect(await stage.list()).toEqual([old]);
    expect(await stage.flags(chat)).toEqual({ ...NONE, hidden: true });
    await stage.directory.touch(TENANT, chat, [stage.bob], at(6, 60));
    expect(await stage.list()).toEqual([chat, old]);
    expect(await stage.flags(chat)).toEqual(NONE);
  },

  async 'a hidden conversation that is shown stands at the time of its head'(fixture) {
    const stage = new Stage(fixture);
    const [a, b, c] = (await stage.chats(3)) as [ConversationId, ConversationId, ConversationId];
    await stage.set(b, { hidden: true });
    await stage.set(b, { hidden: false }, 2);
    expect(await stage.list()).toEqual([c, b, a]);
    await stage.set(a, { hidden: true });
    expect(await stage.set(a, { pinned: true }, 9)).toEqual({ ...NONE, pinned: true });
    await stage.set(a, { pinned: false });
    expect(await stage.list()).toEqual([a, c, b]);
  },

  async 'hiding unpins; leaving unpins, and keeps what was muted'(fixture) {
    const stage = new Stage(fixture);
    const chat = await stage.joined();
    await stage.set(chat, { pinned: true, muted: true });
    expect(await stage.set(chat, { hidden: true })).toEqual({ ...NONE, muted: true, hidden: true });
    expect(await stage.set(chat, { pinned: true })).toEqual({ ...NONE, muted: true, pinned: true });
    await stage.directory.leave(TENANT, chat, [stage.bob], seq(7));
    expect(await stage.list()).toEqual([]);
    await stage.join(chat, 9);
    expect(await stage.flags(chat)).toEqual({ ...NONE, muted: true });
  },

  async 'are per user and tenant'(fixture) {
    const stage = new Stage(fixture);
    const chat = await stage.joined();
    await stage.directory.join(OTHER_TENANT, chat, [{ userId: stage.bob, joinedSeq: seq(1), visibleFrom: seq(1) }], at(1));
    await stage.directory.setFlags(OTHER_TENANT, stage.bob, chat, { pinned: true, muted: true }, at(1));
    expect(await stage.flags(chat)).toEqual(NONE);
  },
};

export const pins: Cases = {
  async 'come first, the newest pin first, and no page loses or repeats one'(fixture) {
    const stage = new Stage(fixture);
    const chats = await stage.chats(12);
    const pinned = [chats[3], chats[11], chats[0]].filter((chat) => chat !== undefined);
    for (const chat of pinned) await stage.set(chat, { pinned: true });
    // Pinned again it stays where it is, and so it does when it moves.
    for (const chat of pinned.slice(0, 1)) await stage.set(chat, { pinned: true });
    await stage.directory.touch(TENANT, pinned[0] ?? never(), [stage.bob], at(9, 900));
    const expected = [...pinned.toReversed(), ...chats.filter((chat) => !pinned.includes(chat)).reverse()];
    for (const limit of [1, 2, 3, 4, 5, 12, 100]) expect(await stage.list(limit)).toEqual(expected);
  },

  async 'that are made or taken away while one pages lose no conversation'(fixture) {
    const stage = new Stage(fixture);
    const chats = await stage.chats(9);
    const [oldest = never(), second = never()] = chats;
    const newest = chats.at(-1) ?? never();
    await stage.set(second, { pinned: true });
    await stage.set(newest, { pinned: true });
    const met = await stage.list(3, async (page) => {
      if (page !== 1) return;
      await stage.set(oldest, { pinned: true });
      await stage.set(newest, { pinned: false });
      await stage.set(newest, { pinned: true });
    });
    expect(new Set(met)).toEqual(new Set(chats));
    expect(met).toHaveLength(9);
    const anew = await stage.list(3);
    expect(anew.slice(0, 3)).toEqual([newest, oldest, second]);
    expect(anew).toHaveLength(9);
  },

  async 'are at most PINS_MAX; one more is refused, and one less makes room'(fixture) {
    const stage = new Stage(fixture);
    const chats = await stage.chats(PINS_MAX + 1);
    const last = chats.at(-1) ?? never();
    for (const chat of chats.slice(0, PINS_MAX)) await stage.set(chat, { pinned: true });
    await refusedWith(stage.set(last, { pinned: true, muted: true }), 'ResourceLimit');
    expect(await stage.flags(last)).toEqual(NONE);
    await stage.set(chats[0] ?? never(), { pinned: true });
    expect(new Set(await stage.list(7)).size).toBe(PINS_MAX + 1);
    await stage.set(chats[0] ?? never(), { pinned: false });
    expect(await stage.set(last, { pinned: true })).toMatchObject({ pinned: true });
  },
};

function never(): never {
  throw new Error('unreachable');
}

export const holding: Cases = {
  async 'names every conversation that the user has, hidden ones too, a page at a time'(fixture) {
    const stage = new Stage(fixture);
    const chats = await stage.chats(7);
    const [hidden = never(), left = never()] = chats;
    await stage.set(hidden, { hidden: true });
    await stage.directory.leave(TENANT, left, [stage.bob], seq(5));
    for (const limit of [1, 3, 100]) {
      const met: ConversationId[] = [];
      let cursor: string | undefined;
      do {
        const { conversationIds, next } = await stage.directory.held(TENANT, stage.bob, cursor, limit);
        met.push(...conversationIds);
        cursor = next;
      } while (cursor !== undefined);
      expect([...new Set(met)].sort()).toEqual(chats.filter((chat) => chat !== left).sort());
    }
  },

  async 'forgets read marks and pins of the user, and nothing of anybody else'(fixture) {
    const stage = new Stage(fixture);
    const chat = await stage.joined();
    const carol = fixture.user('carol');
    for (const userId of [stage.bob, carol]) await stage.directory.raiseRead(TENANT, userId, chat, seq(4));
    await stage.set(chat, { pinned: true, muted: true });
    await stage.directory.forget(TENANT, stage.bob);
    expect(await stage.directory.view(TENANT, stage.bob, chat)).toMatchObject({ readSeq: 0, flags: { ...NONE, muted: true } });
    expect(await stage.directory.raiseRead(TENANT, carol, chat, seq(1))).toBe(4);
  },
};
