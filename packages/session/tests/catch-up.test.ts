/** Catching up and clearing history, as a member meets them. */
import { HISTORY_PAGE_SIZE_DEFAULT, HISTORY_PAGE_SIZE_MAX, HistoryVisibility, MessageStatus, type UserId } from '@qim/proto';
import { corrupt } from '@qim/store';
import { describe, expect, test } from 'vitest';
import type { CatchUpInput, CatchUpOutput } from '../src/contract.js';
import { ALICE, BOB, CAROL, caller, openWorld, refusal, room, seq, T0, T7, type World } from './support.js';

const G = room('a');

async function spoken(count: number, ...args: Parameters<typeof openWorld>): Promise<World> {
  const w = openWorld(...args);
  await w.group(G, [ALICE, BOB]);
  for (let n = 0; n < count; n += 1) await w.say(ALICE, G);
  return w;
}

const ask = (w: World, userId: UserId, over: Partial<CatchUpInput> = {}) =>
  w.session.catchUp(caller(userId), { conversationId: G, epoch: 1, after: seq(0), amendmentCursor: 0, limit: 0, ...over });

async function page(w: World, userId: UserId, over: Partial<CatchUpInput> = {}): Promise<Extract<CatchUpOutput, { reset: false }>> {
  const answer = await ask(w, userId, over);
  if (answer.reset) throw new Error('nothing was to be dropped');
  return answer;
}

const seqs = (messages: readonly { readonly record: { readonly conversationSeq: number } }[]) =>
  messages.map(({ record }) => record.conversationSeq);

describe('a catch-up', () => {
  test('brings what was sent, edited and recalled while the device was away, and the cursors of the next', async () => {
    const w = await spoken(3);
    const { listing } = (await w.one(BOB, G)) as { listing: { amendmentNumber: number } };
    const [first, second] = await Promise.all([w.say(ALICE, G), w.say(ALICE, G)]);
    await w.amend(first, MessageStatus.Edited, 'better');
    await w.amend(second, MessageStatus.Recalled);
    const { amended, ...rest } = await page(w, BOB, { after: seq(6), amendmentCursor: listing.amendmentNumber });
    expect(rest).toMatchObject({ messages: [], hasMore: false, nextAfter: 6, nextAmendmentCursor: 2, epoch: 1 });
    expect(amended.map(({ record, epoch }) => [record.conversationSeq, record.status, epoch])).toEqual([
      [5, MessageStatus.Edited, 1],
      [6, MessageStatus.Recalled, 1],
    ]);
    expect(seqs((await page(w, BOB, { after: seq(2), amendmentCursor: 2 })).messages)).toEqual([3, 4, 5, 6]);
  });

  test('of another epoch is a reset, unless the device holds nothing', async () => {
    const w = await spoken(3);
    expect(await ask(w, BOB, { epoch: 7 })).toEqual({ reset: true, epoch: 1 });
    expect(await ask(w, BOB, { after: seq(9) })).toEqual({ reset: true, epoch: 1 });
    expect(await ask(w, BOB, { epoch: 0, after: seq(9) })).toMatchObject({ reset: false });
  });

  test('holds 50 of each list unless asked otherwise, and at most 200', async () => {
    const w = await spoken(HISTORY_PAGE_SIZE_MAX + 5);
    expect((await page(w, BOB)).messages).toHaveLength(HISTORY_PAGE_SIZE_DEFAULT);
    expect((await page(w, BOB, { limit: HISTORY_PAGE_SIZE_MAX })).messages).toHaveLength(HISTORY_PAGE_SIZE_MAX);
    for (const limit of [HISTORY_PAGE_SIZE_MAX + 1, -1, 0.5]) expect(await refusal(ask(w, BOB, { limit }))).toBe('InvalidArgument limit');
  });

  test('is a member’s; damage in it is told', async () => {
    const w = await spoken(1);
    expect(await refusal(ask(w, CAROL))).toBe('NotMember');
    expect(
      await refusal(w.session.catchUp(caller(BOB, T7), { conversationId: G, epoch: 0, after: seq(0), amendmentCursor: 0, limit: 0 })),
    ).toBe('NotMember');
    await w.remove(G, BOB, false);
    expect(await refusal(ask(w, BOB))).toBe('NotMember');
    const broken = await spoken(1, () => ({ messages: { catchUp: () => Promise.reject(corrupt(T0, G, 'recordMissing', seq(2))) } }));
    expect(await refusal(ask(broken, BOB))).toBe('CorruptRecord');
  });
});

describe('cleared history', () => {
  const clear = (w: World, userId: UserId, upTo: number) => w.session.clearHistory(caller(userId), G, seq(upTo));
  const newest = async (w: World, userId: UserId) =>
    seqs((await w.session.readHistory(caller(userId), { conversationId: G, position: 'newest', limit: 0 })).messages);

  test('leaves one user’s history, catch-up, amended records, preview and counts; others see all', async () => {
    const w = await spoken(3);
    const old = await w.say(ALICE, G);
    await clear(w, BOB, 5);
    expect(await newest(w, BOB)).toEqual([]);
    expect(await newest(w, ALICE)).toEqual([1, 2, 3, 4, 5]);
    expect(await w.one(BOB, G)).toMatchObject({
      preview: undefined,
      summary: { unreadCount: 0, unreadExact: true, latestConversationSeq: 5 },
    });
    await w.amend(old, MessageStatus.Edited, 'not for Bob');
    const away = await page(w, BOB, { after: seq(5) });
    expect(away).toMatchObject({ messages: [], amended: [], nextAmendmentCursor: 1 });
    expect((await page(w, ALICE, { after: seq(5) })).amended).toHaveLength(1);
    await w.say(ALICE, G);
    expect(await newest(w, BOB)).toEqual([6]);
    expect(seqs((await page(w, BOB)).messages)).toEqual([6]);
    expect(await w.one(BOB, G)).toMatchObject({ preview: { conversationSeq: 6 }, summary: { unreadCount: 1, unreadExact: true } });
  });

  test('is told to the user’s devices', async () => {
    const w = await spoken(1);
    await clear(w, BOB, 2);
    expect(w.announced).toContain(`${BOB} ${G} changed`);
  });

  test('never passes the head, and never comes back', async () => {
    const w = await spoken(3);
    await clear(w, BOB, Number.MAX_SAFE_INTEGER);
    await w.say(ALICE, G);
    expect(await newest(w, BOB)).toEqual([5]);
    await clear(w, BOB, 2);
    expect(await newest(w, BOB)).toEqual([5]);
    await w.remove(G, BOB);
    await w.add(G, BOB);
    expect(await newest(w, BOB)).toEqual([7]);
  });

  test('stays cleared for who sees all of the past, after coming back too', async () => {
    const w = openWorld();
    await w.group(G, [ALICE, BOB], { visibility: HistoryVisibility.All });
    for (let n = 0; n < 3; n += 1) await w.say(ALICE, G);
    await clear(w, BOB, 3);
    expect(await newest(w, BOB)).toEqual([4]);
    await w.remove(G, BOB);
    await w.add(G, BOB);
    expect(await newest(w, BOB)).toEqual([4, 5, 6]);
  });

  test('holds at once for a member whose own list does not have the conversation yet', async () => {
    const w = openWorld();
    await w.group(G, [ALICE, BOB], { listed: false });
    await w.say(ALICE, G);
    await clear(w, BOB, 1);
    expect(await newest(w, BOB)).toEqual([2]);
    expect((await w.listAll(BOB)).map(({ conversationId }) => conversationId)).toEqual([G]);
  });

  test('is a member’s: others learn nothing and nothing is written', async () => {
    const w = await spoken(3);
    expect(await refusal(clear(w, CAROL, 1))).toBe('NotMember');
    expect(await refusal(w.session.clearHistory(caller(BOB, T7), G, seq(1)))).toBe('NotMember');
    expect(await refusal(w.session.clearHistory(caller(BOB), room('none'), seq(1)))).toBe('NotMember');
    await w.remove(G, BOB, false);
    expect(await refusal(clear(w, BOB, 1))).toBe('NotMember');
    expect(await w.store.directory.view(T0, BOB, G)).toMatchObject({ clearedSeq: 0 });
  });
});
