/** Read marks, history, members, page tokens. */
import {
  HISTORY_PAGE_SIZE_DEFAULT,
  HISTORY_PAGE_SIZE_MAX,
  HistoryVisibility,
  MEMBERS_PAGE_SIZE,
  MessageStatus,
  PAGE_TOKEN_CHARS_MAX,
  parseUserId,
  Role,
  type UserId,
} from '@qim/proto';
import { corrupt } from '@qim/store';
import { describe, expect, test } from 'vitest';
import { decodeListToken, decodeMembersToken, encodeListToken, encodeMembersToken } from '../src/page-token.js';
import { ALICE, BOB, CAROL, caller, openWorld, refusal, reviewing, room, seq, T0, T7, type World } from './support.js';

const G = room('a');
const mark = (w: World, userId: UserId, upTo: number) => w.session.markRead(caller(userId), G, seq(upTo));
async function spoken(count: number, ...args: Parameters<typeof openWorld>): Promise<World> {
  const w = openWorld(...args);
  await w.group(G, [ALICE, BOB]);
  for (let n = 0; n < count; n += 1) await w.say(ALICE, G);
  return w;
}

describe('a read mark', () => {
  test('only rises, in whatever order calls arrive', async () => {
    const w = await spoken(10);
    expect([await mark(w, BOB, 5), await mark(w, BOB, 9), await mark(w, BOB, 5), await mark(w, BOB, 0)]).toEqual([5, 9, 9, 9]);
    const late = await spoken(1000);
    const held = await Promise.all(Array.from({ length: 1000 }, (_, n) => mark(late, BOB, ((n * 7919) % 1000) + 1)));
    expect(Math.max(...held)).toBe(1000);
    expect(await late.one(BOB, G)).toMatchObject({ readConversationSeq: 1000, summary: { unreadCount: 1 } });
  });

  test('never passes the head: what arrives meanwhile stays unread', async () => {
    const w = await spoken(6);
    expect(await mark(w, BOB, Number.MAX_SAFE_INTEGER)).toBe(7);
    await w.say(ALICE, G);
    expect(await w.one(BOB, G)).toMatchObject({ readConversationSeq: 7, summary: { unreadCount: 1, unreadExact: true } });
    for (let n = 0; n < 200; n += 1) {
      const seen = await mark(w, BOB, 8 + n);
      await Promise.all([mark(w, BOB, seen), w.say(ALICE, G)]);
      expect(await w.one(BOB, G)).toMatchObject({ summary: { unreadCount: 1 } });
    }
  });

  test('past the head already, as in a restored store, is answered as it is', async () => {
    const w = await spoken(1);
    await w.store.directory.raiseRead(T0, BOB, G, seq(80));
    expect(await mark(w, BOB, 2)).toBe(80);
    expect(w.announced).toEqual([]);
  });

  test('is told to the user’s devices when it rose, and only then', async () => {
    const w = await spoken(5);
    for (const upTo of [3, 3, 2, 5]) await mark(w, BOB, upTo);
    expect(w.announced).toEqual([`bob ${G} 3`, `bob ${G} 5`]);
  });

  test('holds on every device and after everything else is forgotten; another’s mark is another’s', async () => {
    const w = await spoken(5);
    await mark(w, BOB, 6);
    expect(await w.one(BOB, G)).toMatchObject({ summary: { unreadCount: 0 } });
    await w.say(BOB, G);
    expect(await w.one(ALICE, G)).toMatchObject({ readConversationSeq: 0, summary: { unreadCount: 1 } });
    await mark(w, ALICE, 7);
    expect(await w.one(BOB, G)).toMatchObject({ readConversationSeq: 6 });
  });

  test('advances over what was never unread', async () => {
    const w = openWorld();
    await w.group(G, [ALICE, BOB]);
    const recalled = await w.say(ALICE, G);
    await w.amend(recalled, MessageStatus.Recalled);
    await w.say(BOB, G);
    expect(await w.one(BOB, G)).toMatchObject({ summary: { unreadCount: 0 } });
    expect(await mark(w, BOB, 3)).toBe(3);
  });

  test('is a member’s: others learn nothing and nothing is written', async () => {
    const w = await spoken(3);
    expect(await refusal(mark(w, CAROL, 2))).toBe('NotMember');
    expect(await refusal(w.session.markRead(caller(BOB, T7), G, seq(2)))).toBe('NotMember');
    expect(await refusal(w.session.markRead(caller(BOB), room('none'), seq(2)))).toBe('NotMember');
    await w.remove(G, BOB, false);
    expect(await refusal(mark(w, BOB, 2))).toBe('NotMember');
    expect(await w.store.directory.view(T0, BOB, G)).toMatchObject({ readSeq: 0 });
  });

  test('of a member whose conversation has no facts is damage', async () => {
    const w = await spoken(1, () => ({
      messages: {
        readConversation: async () => ({ facts: undefined, member: { role: Role.Member, joinedSeq: seq(1), visibleFrom: seq(1) } }),
      },
    }));
    expect(await refusal(mark(w, BOB, 1))).toBe('CorruptRecord');
  });
});

describe('history', () => {
  const read = async (w: World, userId: UserId, position: Parameters<World['session']['readHistory']>[1]['position'], limit = 0) => {
    const { messages, hasMore } = await w.session.readHistory(caller(userId), { conversationId: G, position, limit });
    return { seqs: messages.map(({ record }) => Number(record.conversationSeq)), hasMore };
  };
  const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);

  test('is read forward, backward and from the newest, ascending, across holes', async () => {
    const w = await spoken(4);
    w.store.testing.skipSequences(T0, G, 10);
    await w.say(ALICE, G);
    expect(await read(w, BOB, 'newest', 2)).toEqual({ seqs: [5, 16], hasMore: true });
    expect(await read(w, BOB, { before: seq(5) }, 3)).toEqual({ seqs: [2, 3, 4], hasMore: true });
    expect(await read(w, BOB, { after: seq(4) }, 3)).toEqual({ seqs: [5, 16], hasMore: false });
    expect(await read(w, BOB, { after: seq(0) }, 2)).toEqual({ seqs: [1, 2], hasMore: true });
    expect(await read(w, BOB, { after: seq(16) })).toEqual({ seqs: [], hasMore: false });
    expect(await read(w, BOB, { before: seq(0) })).toEqual({ seqs: [], hasMore: false });
  });

  test('page by page both ways gives each once, though all are of one millisecond', async () => {
    const w = openWorld();
    await w.group(G, [ALICE, BOB]);
    for (let n = 0; n < 44; n += 1) {
      w.clock.nowMs = 1_700_000_000_000;
      await w.say(ALICE, G);
    }
    const forward: number[] = [];
    for (let page = await read(w, BOB, { after: seq(0) }, 20); ; page = await read(w, BOB, { after: seq(forward.at(-1) ?? 0) }, 20)) {
      forward.push(...page.seqs);
      if (!page.hasMore) break;
    }
    const backward: number[] = [];
    for (let page = await read(w, BOB, 'newest', 20); ; page = await read(w, BOB, { before: seq(backward[0] ?? 0) }, 20)) {
      backward.unshift(...page.seqs);
      if (!page.hasMore) break;
    }
    expect(forward).toEqual(range(1, 45));
    expect(backward).toEqual(forward);
  });

  test('holds 50 a page unless asked otherwise, and at most 200', async () => {
    const w = await spoken(HISTORY_PAGE_SIZE_MAX + 5);
    expect((await read(w, BOB, 'newest')).seqs).toHaveLength(HISTORY_PAGE_SIZE_DEFAULT);
    expect((await read(w, BOB, 'newest', HISTORY_PAGE_SIZE_MAX)).seqs).toHaveLength(HISTORY_PAGE_SIZE_MAX);
    for (const limit of [HISTORY_PAGE_SIZE_MAX + 1, -1, 0.5])
      expect(await refusal(read(w, BOB, 'newest', limit))).toBe('InvalidArgument limit');
  });

  test('begins where the member joined, or was cleared', async () => {
    const w = openWorld();
    await w.group(G, [ALICE]);
    await w.say(ALICE, G);
    await w.add(G, BOB);
    await w.say(ALICE, G);
    expect(await read(w, BOB, { after: seq(0) })).toEqual({ seqs: [3, 4], hasMore: false });
    expect(await read(w, BOB, { before: seq(3) })).toEqual({ seqs: [], hasMore: false });
    const cleared = await spoken(
      4,
      reviewing(() => ({ clearedSeq: seq(3) })),
    );
    expect(await read(cleared, BOB, 'newest')).toEqual({ seqs: [4, 5], hasMore: false });
    const past = openWorld();
    await past.group(G, [ALICE], { visibility: HistoryVisibility.All });
    await past.add(G, BOB);
    expect(await read(past, BOB, { after: seq(0) })).toEqual({ seqs: [1, 2], hasMore: false });
  });

  test('carries the epoch, and its newest is what the list calls the head', async () => {
    const w = await spoken(3);
    const { messages, epoch } = await w.session.readHistory(caller(BOB), { conversationId: G, position: 'newest', limit: 1 });
    const shown = await w.one(BOB, G);
    expect(messages[0]?.epoch).toBe(epoch);
    expect(shown).toMatchObject({
      listing: { epoch },
      summary: { lastMessageId: messages[0]?.record.messageId, lastActivityId: messages[0]?.record.activityId },
    });
  });

  test('is a member’s; damage in it is told, never left out', async () => {
    const w = await spoken(1);
    expect(await refusal(read(w, CAROL, 'newest'))).toBe('NotMember');
    await w.remove(G, BOB, false);
    expect(await refusal(read(w, BOB, 'newest'))).toBe('NotMember');
    const broken = await spoken(1, () => ({ messages: { readHistory: () => Promise.reject(corrupt(T0, G, 'recordMissing', seq(2))) } }));
    expect(await refusal(read(broken, BOB, 'newest'))).toBe('CorruptRecord');
  });
});

describe('members', () => {
  const names = Array.from({ length: MEMBERS_PAGE_SIZE + 50 }, (_, n) => parseUserId(`user-${String(n).padStart(3, '0')}`));
  const page = (w: World, by: UserId, token = '') => w.session.listMembers(caller(by), G, token);

  test('come by the bytes of their ids, 200 a page, with roles and joins', async () => {
    const w = openWorld();
    const [wide, narrow] = [parseUserId('\u{10000}'), parseUserId('\uff00')];
    await w.group(G, [ALICE, ...names.slice(0, 198), wide, narrow]);
    const first = await page(w, ALICE);
    expect(first.members).toHaveLength(MEMBERS_PAGE_SIZE);
    expect(first.members[0]).toEqual({ userId: ALICE, role: Role.Owner, joinedSeq: 1, visibleFrom: 1 });
    // U+FF00 is before U+10000 in UTF-8, and after it in UTF-16.
    expect(first.members.at(-1)?.userId).toBe(narrow);
    const second = await page(w, ALICE, first.nextPageToken);
    expect(second.members.map(({ userId }) => userId)).toEqual([wide]);
    expect(second.nextPageToken).toBe('');
  });

  test('just one page has no next', async () => {
    const w = openWorld();
    await w.group(G, [ALICE, ...names.slice(0, MEMBERS_PAGE_SIZE - 1)]);
    const { members, nextPageToken } = await page(w, ALICE);
    expect([members.length, nextPageToken]).toEqual([MEMBERS_PAGE_SIZE, '']);
  });

  test('go on after the last one of a page, though that one has left', async () => {
    const w = openWorld();
    await w.group(G, [ALICE, ...names.slice(0, 200)]);
    await w.add(G, CAROL);
    const first = await page(w, ALICE);
    const last = first.members.at(-1)?.userId;
    if (last === undefined) throw new Error('a full page has a last member');
    await w.remove(G, last);
    expect((await page(w, ALICE, first.nextPageToken)).members.map(({ userId }) => userId)).toEqual(names.slice(198, 200));
  });

  test('are told to members alone, and nothing is read for others', async () => {
    const read: string[] = [];
    const w = openWorld((store) => ({
      messages: {
        readMembers: async (...args) => {
          read.push(args[1]);
          return store.messages.readMembers(...args);
        },
      },
    }));
    await w.group(G, [ALICE, BOB]);
    read.length = 0;
    expect(await refusal(page(w, CAROL))).toBe('NotMember');
    expect(read).toEqual([]);
    expect((await page(w, BOB)).members).toHaveLength(2);
  });
});

describe('page tokens', () => {
  const cursor = { activityAtMs: 1_700_000_000_123, conversationId: G };
  const token = encodeListToken(caller(ALICE), cursor);
  const verdict = async (text: string) => {
    const w = await spoken(0);
    return refusal(w.session.listConversations(caller(ALICE), { pageSize: 0, pageToken: text, explain: false }));
  };

  test('bring back the position they were made of, and stay within their bound', () => {
    expect(decodeListToken(caller(ALICE), token)).toEqual(cursor);
    const worst = parseUserId('"'.repeat(64));
    const members = encodeMembersToken(caller(worst), room('x'.repeat(62)), worst);
    expect(decodeMembersToken(caller(worst), room('x'.repeat(62)), members)).toBe(worst);
    expect(Math.max(token.length, members.length)).toBeLessThanOrEqual(PAGE_TOKEN_CHARS_MAX);
  });

  test('of another user, tenant or list are refused by the field', async () => {
    const foreign = [
      encodeListToken(caller(BOB), cursor),
      encodeListToken(caller(ALICE, T7), cursor),
      encodeMembersToken(caller(ALICE), G, ALICE),
    ];
    for (const text of foreign) expect(await verdict(text)).toBe('InvalidArgument pageToken');
    expect(await verdict(token)).toBe('fine');
    const w = await spoken(0);
    for (const text of [token, encodeMembersToken(caller(ALICE), room('b'), ALICE), encodeMembersToken(caller(BOB), G, ALICE)]) {
      expect(await refusal(w.session.listMembers(caller(ALICE), G, text))).toBe('InvalidArgument pageToken');
    }
  });

  test('with any character changed, cut or added are refused', async () => {
    for (let at = 0; at < token.length; at += 1) {
      const other = token[at] === 'A' ? 'B' : 'A';
      expect(await verdict(token.slice(0, at) + other + token.slice(at + 1))).toBe('InvalidArgument pageToken');
    }
    for (let length = 1; length < token.length; length += 1)
      expect(await verdict(token.slice(0, length))).toBe('InvalidArgument pageToken');
    for (const text of [`${token}A`, `${token}=`, ` ${token}`, `${token}\n`, '!', 'null', 'A'.repeat(PAGE_TOKEN_CHARS_MAX + 1)]) {
      expect(await verdict(text)).toBe('InvalidArgument pageToken');
    }
  });
});
