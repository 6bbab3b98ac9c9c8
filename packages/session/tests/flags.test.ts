/** What a user chose for a conversation, marks of several at once, and totals. */
import { MARK_ALL_READ_MAX, TOTALS_CONVERSATIONS_MAX, TOTALS_PAGES_MAX } from '@qim/proto';
import { corrupt } from '@qim/store';
import { describe, expect, test } from 'vitest';
import { ALICE, BOB, CAROL, caller, openWorld, refusal, room, seq, T0, type World } from './support.js';

const G = room('a');
const H = room('b');
const NONE = { pinned: false, muted: false, hidden: false, markedUnread: false };
const bob = caller(BOB);

async function spoken(count = 1, ...rooms: readonly (typeof G)[]): Promise<World> {
  const w = openWorld();
  for (const id of rooms) {
    await w.group(id, [ALICE, BOB]);
    for (let n = 0; n < count; n += 1) await w.say(ALICE, id);
  }
  return w;
}

const ids = (conversations: readonly { conversationId: string }[]) => conversations.map(({ conversationId }) => conversationId);

describe('flags', () => {
  test('are answered with the conversation, and told to the user’s devices', async () => {
    const w = await spoken(2, G);
    expect(await w.session.setConversationFlags(bob, G, { muted: true })).toMatchObject({
      flags: { ...NONE, muted: true },
      summary: { unreadCount: 2 },
    });
    expect(w.announced).toEqual([`bob ${G} changed`]);
    expect((await w.one(ALICE, G)).flags).toEqual(NONE);
  });

  test('are for members alone', async () => {
    const w = await spoken(1, G);
    expect(await refusal(w.session.setConversationFlags(caller(CAROL), G, { muted: true }))).toBe('NotMember');
    expect(await refusal(w.session.setConversationFlags(bob, room('none'), { muted: true }))).toBe('NotMember');
    expect(w.announced).toEqual([]);
  });

  test('hold for a member whose own list does not have the conversation yet', async () => {
    const w = openWorld();
    await w.group(G, [ALICE, BOB], { listed: false });
    expect(await w.session.setConversationFlags(bob, G, { pinned: true })).toMatchObject({ flags: { ...NONE, pinned: true } });
    expect(ids(await w.listAll(BOB))).toEqual([G]);
  });

  test('pinned and hidden at once are refused', async () => {
    const w = await spoken(1, G);
    const both = w.session.setConversationFlags(bob, G, { pinned: true, hidden: true });
    await expect(both).rejects.toMatchObject({ code: 'InvalidArgument', detail: { field: 'hidden' } });
  });

  test('a hidden conversation comes back with the next message', async () => {
    const w = await spoken(1, G, H);
    await w.session.setConversationFlags(bob, G, { hidden: true });
    expect(ids(await w.listAll(BOB))).toEqual([H]);
    expect((await w.one(BOB, G)).flags.hidden).toBe(true);
    await w.say(ALICE, G);
    expect(ids(await w.listAll(BOB))).toEqual([G, H]);
  });

  test('a message that is committed and delivered while one hides is not hidden with the rest', async () => {
    let meanwhile = async () => {};
    const w: World = openWorld((store) => ({
      directory: {
        async setFlags(...args) {
          await meanwhile();
          return store.directory.setFlags(...args);
        },
      },
    }));
    await w.group(G, [ALICE, BOB]);
    meanwhile = async () => {
      await w.say(ALICE, G);
    };
    await w.session.setConversationFlags(bob, G, { hidden: true });
    expect(ids(await w.listAll(BOB))).toEqual([G]);
  });

  test('pinned ones come first on whatever pages, each once', async () => {
    const rooms = Array.from({ length: 9 }, (_, n) => room(`r${n}`));
    const w = await spoken(1, ...rooms);
    for (const n of [2, 5]) await w.session.setConversationFlags(bob, room(`r${n}`), { pinned: true });
    const expected = [5, 2, 8, 7, 6, 4, 3, 1, 0].map((n) => room(`r${n}`));
    for (const pageSize of [1, 2, 4, 100]) expect(ids(await w.listAll(BOB, pageSize))).toEqual(expected);
  });

  test('marked unread goes with a read mark, and other devices learn it though the mark did not rise', async () => {
    const w = await spoken(1, G);
    await w.session.markRead(bob, G, seq(2));
    await w.session.setConversationFlags(bob, G, { markedUnread: true });
    w.announced.length = 0;
    await w.session.markRead(bob, G, seq(2));
    expect(w.announced).toEqual([`bob ${G} changed`]);
    expect((await w.one(BOB, G)).flags.markedUnread).toBe(false);
  });
});

describe('marks of several conversations', () => {
  test('are each raised to what was asked, never past the head, never lowered', async () => {
    const w = await spoken(4, G, H);
    await w.session.markRead(bob, H, seq(4));
    const held = await w.session.markAllRead(bob, [
      { conversationId: G, conversationSeq: seq(99) },
      { conversationId: H, conversationSeq: seq(2) },
    ]);
    expect(held).toEqual([
      { conversationId: G, conversationSeq: 5 },
      { conversationId: H, conversationSeq: 4 },
    ]);
    expect(await w.one(BOB, G)).toMatchObject({ readConversationSeq: 5, summary: { unreadCount: 0 } });
    expect(await w.session.markAllRead(bob, [])).toEqual([]);
  });

  test('are raised of none when the caller is not a member of one', async () => {
    const w = await spoken(4, G);
    const asked = [G, room('other')].map((conversationId) => ({ conversationId, conversationSeq: seq(3) }));
    expect(await refusal(w.session.markAllRead(bob, asked))).toBe('NotMember');
    expect(await w.one(BOB, G)).toMatchObject({ readConversationSeq: 0 });
  });

  test('leave out a damaged one', async () => {
    const w = openWorld((store) => ({
      messages: {
        async readConversation(tenantId, conversationId, userId) {
          if (conversationId === H) throw corrupt(T0, H, 'factsUnreadable');
          return store.messages.readConversation(tenantId, conversationId, userId);
        },
      },
    }));
    for (const id of [G, H]) await w.group(id, [ALICE, BOB]);
    const held = await w.session.markAllRead(
      bob,
      [H, G].map((conversationId) => ({ conversationId, conversationSeq: seq(1) })),
    );
    expect(held).toEqual([{ conversationId: G, conversationSeq: 1 }]);
  });

  test('are at most MARK_ALL_READ_MAX', async () => {
    const w = await spoken(1, G);
    const asked = (count: number) => Array.from({ length: count }, () => ({ conversationId: G, conversationSeq: seq(1) }));
    expect(await w.session.markAllRead(bob, asked(MARK_ALL_READ_MAX))).toHaveLength(MARK_ALL_READ_MAX);
    expect(await refusal(w.session.markAllRead(bob, asked(MARK_ALL_READ_MAX + 1)))).toBe('InvalidArgument upTo');
  });
});

const damaged = { kind: 'damaged', listing: undefined, memberKnown: false, member: undefined } as const;

describe('totals', () => {
  const totals = (w: World) => w.session.getTotals(bob);

  test('are those of the list without muted ones; one marked unread counts as a conversation', async () => {
    const w = await spoken(3, G, H);
    await w.group(room('c'), [ALICE, BOB]);
    await w.say(ALICE, G, { mentions: { userIds: [BOB], all: false } });
    expect(await totals(w)).toEqual({ unreadConversations: 2, unreadCount: 7, mentionCount: 1, exact: true });
    await w.session.setConversationFlags(bob, H, { muted: true });
    expect(await totals(w)).toEqual({ unreadConversations: 1, unreadCount: 4, mentionCount: 1, exact: true });
    await w.session.setConversationFlags(bob, room('c'), { markedUnread: true });
    expect(await totals(w)).toEqual({ unreadConversations: 2, unreadCount: 4, mentionCount: 1, exact: true });
    await w.session.markRead(bob, G, seq(99));
    expect(await totals(w)).toEqual({ unreadConversations: 1, unreadCount: 0, mentionCount: 0, exact: true });
  });

  test('are not exact where a count is not', async () => {
    const w = await spoken(201, G);
    expect(await totals(w)).toEqual({ unreadConversations: 1, unreadCount: 200, mentionCount: 0, exact: false });
  });

  test('are not exact beside a damaged conversation', async () => {
    const w: World = openWorld((store) => ({
      messages: {
        async readConversations(tenantId, userId, states) {
          const readings = await store.messages.readConversations(tenantId, userId, states);
          return readings.map((reading, i) =>
            states[i]?.conversationId === H ? { ...damaged, conversationId: H, error: corrupt(T0, H, 'recordMissing') } : reading,
          );
        },
      },
    }));
    for (const id of [G, H]) await w.group(id, [ALICE, BOB]);
    await w.say(ALICE, G);
    expect(await totals(w)).toEqual({ unreadConversations: 1, unreadCount: 1, mentionCount: 0, exact: false });
  });

  test('are of TOTALS_CONVERSATIONS_MAX conversations, and with one more not exact', async () => {
    const rooms = Array.from({ length: TOTALS_CONVERSATIONS_MAX }, (_, n) => room(`r${n}`));
    const w = await spoken(1, ...rooms);
    expect(await totals(w)).toEqual({ unreadConversations: 200, unreadCount: 200, mentionCount: 0, exact: true });
    await w.group(G, [ALICE, BOB]);
    expect(await totals(w)).toMatchObject({ unreadConversations: 199, exact: false });
    await w.session.setConversationFlags(bob, G, { muted: true });
    expect(await totals(w)).toMatchObject({ unreadConversations: 200, exact: true });
  });

  test('look through TOTALS_PAGES_MAX pages and no more, however many are muted', async () => {
    let pages = 0;
    const w: World = openWorld((store) => ({
      directory: {
        async page(tenantId, userId) {
          pages += 1;
          const { views } = await store.directory.page(tenantId, userId, 1, undefined);
          return { views, next: { activityAtMs: 1, conversationId: G } };
        },
      },
    }));
    await w.group(G, [ALICE, BOB]);
    await w.session.setConversationFlags(bob, G, { muted: true });
    expect(await totals(w)).toEqual({ unreadConversations: 0, unreadCount: 0, mentionCount: 0, exact: false });
    expect(pages).toBe(TOTALS_PAGES_MAX);
  });
});
