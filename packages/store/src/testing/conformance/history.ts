/** Cases: pages of history, and single reads. */
import { type ConversationSeq, HISTORY_PAGE_BYTES_MAX, HistoryVisibility, SEQ_MAX, SEQ_ZERO, type UserId } from '@qim/proto';
import { expect } from 'vitest';
import { type Chat, type Fixture, OTHER_TENANT, refusedWith, seq, TENANT, TITLE, text } from './fixture.js';
import type { Cases } from './suite.js';

function pair(fixture: Fixture) {
  const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
  return { alice, bob, chat: fixture.direct(alice, bob) };
}

/** All pages of one direction, each as its sequences. */
async function pages(
  chat: Chat,
  userId: UserId,
  direction: 'forward' | 'backward',
  limit: number,
  clearedSeq = SEQ_ZERO,
): Promise<number[][]> {
  const all: number[][] = [];
  let position: { after: ConversationSeq } | { before: ConversationSeq } | 'newest' =
    direction === 'forward' ? { after: SEQ_ZERO } : 'newest';
  for (;;) {
    const { records, hasMore } = await chat.history(userId, { position, limit, clearedSeq });
    const sequences = records.map(({ conversationSeq }) => conversationSeq);
    all.push(sequences);
    if (!hasMore) return all;
    const [first, last] = [sequences[0], sequences.at(-1)];
    if (first === undefined || last === undefined) throw new Error('an empty page cannot say that there is more');
    position = direction === 'forward' ? { after: last } : { before: first };
  }
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

export const history: Cases = {
  async 'messages of one millisecond are each on exactly one page, both ways'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await Promise.all(Array.from({ length: 45 }, () => chat.say(alice)));
    expect(await pages(chat, bob, 'forward', 20)).toEqual([range(1, 20), range(21, 40), range(41, 45)]);
    expect(await pages(chat, bob, 'backward', 20)).toEqual([range(26, 45), range(6, 25), range(1, 5)]);
  },

  async 'a page says that there is more exactly when there is'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 10);
    const page = (over: Parameters<Chat['page']>[1]) => chat.page(bob, over);
    expect(await page({ limit: 10 })).toEqual([range(1, 10), false]);
    expect(await page({ limit: 9 })).toEqual([range(2, 10), true]);
    expect(await page({ limit: 1 })).toEqual([[10], true]);
    expect(await page({ position: { after: seq(0) }, limit: 10 })).toEqual([range(1, 10), false]);
    expect(await page({ position: { after: seq(0) }, limit: 9 })).toEqual([range(1, 9), true]);
    expect(await page({ position: { after: seq(9) } })).toEqual([[10], false]);
    expect(await page({ position: { after: seq(10) } })).toEqual([[], false]);
    expect(await page({ position: { after: seq(SEQ_MAX) } })).toEqual([[], false]);
    expect(await page({ position: { before: seq(1) } })).toEqual([[], false]);
    expect(await page({ position: { before: seq(2) } })).toEqual([[1], false]);
    expect(await page({ position: { before: seq(10) }, limit: 9 })).toEqual([range(1, 9), false]);
    expect(await page({ position: { before: seq(10) }, limit: 8 })).toEqual([range(2, 9), true]);
    expect(await page({ position: { before: seq(SEQ_MAX) }, limit: 10 })).toEqual([range(1, 10), false]);
  },

  async 'pages cross holes, wherever they lie'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    const expected: number[] = [];
    for (const hole of [0, 1, 300, 0, 0, 70_000, 0, 255, 256, 0]) {
      if (hole > 0) await chat.skip(hole);
      expected.push((await chat.say(alice)).conversationSeq);
    }
    expect(await pages(chat, bob, 'forward', 3).then((all) => all.flat())).toEqual(expected);
    expect((await pages(chat, bob, 'backward', 3)).reverse().flat()).toEqual(expected);
    expect(await chat.page(bob, { position: { after: seq(4) }, limit: 1 })).toEqual([[304], true]);
    expect(await chat.page(bob, { position: { before: seq(200) }, limit: 1 })).toEqual([[3], true]);
  },

  async 'who joined later sees from there, in every direction'(fixture) {
    const [alice, carol] = [fixture.user('alice'), fixture.user('carol')];
    const chat = await fixture.group(alice, []);
    await chat.sayTimes(alice, 5);
    await chat.join(alice, carol);
    await chat.sayTimes(alice, 3);
    expect(await pages(chat, carol, 'forward', 2)).toEqual([
      [7, 8],
      [9, 10],
    ]);
    expect(await pages(chat, carol, 'backward', 2)).toEqual([
      [9, 10],
      [7, 8],
    ]);
    expect(await chat.page(carol, { position: { before: seq(7) } })).toEqual([[], false]);
    expect(await chat.page(carol, { position: { before: seq(3) } })).toEqual([[], false]);
    expect(await chat.page(carol, { position: { after: seq(2) }, limit: 1 })).toEqual([[7], true]);
    expect(await chat.page(alice, { position: { before: seq(3) } })).toEqual([[1, 2], false]);
  },

  async 'what the user cleared is not returned, and is no more to come'(fixture) {
    const [alice, carol] = [fixture.user('alice'), fixture.user('carol')];
    const chat = await fixture.group(alice, [], { historyVisibility: HistoryVisibility.All });
    await chat.sayTimes(alice, 5);
    await chat.join(alice, carol);
    expect(await pages(chat, carol, 'backward', 2, seq(3))).toEqual([
      [6, 7],
      [4, 5],
    ]);
    expect(await pages(chat, carol, 'forward', 2, seq(3))).toEqual([
      [4, 5],
      [6, 7],
    ]);
    expect(await chat.page(carol, { clearedSeq: seq(7) })).toEqual([[], false]);
    expect(await chat.page(carol, { clearedSeq: seq(9), position: { after: seq(0) } })).toEqual([[], false]);
    expect(await chat.page(carol, { clearedSeq: seq(3), position: { before: seq(4) } })).toEqual([[], false]);
  },

  async 'outsiders, other tenants and no such conversation are refused alike'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.say(alice);
    await refusedWith(chat.history(fixture.user('eve')), 'NotMember');
    await refusedWith(chat.history(bob, { tenantId: OTHER_TENANT }), 'NotMember');
    await refusedWith(chat.history(bob, { conversationId: fixture.conversationId() }), 'NotMember');
  },

  async 'a page ends before HISTORY_PAGE_BYTES_MAX of content, and the pages together hold all of it'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    const data = new Uint8Array(60 * 1024).fill(1);
    for (let n = 1; n <= 40; n += 1) await chat.say(alice, { content: { kind: 'data', contentType: 'image/png', data } });
    for (const direction of ['forward', 'backward'] as const) {
      const all = await pages(chat, bob, direction, 200);
      const most = Math.floor(HISTORY_PAGE_BYTES_MAX / data.length);
      for (const page of all) expect(page.length).toBeLessThanOrEqual(most);
      for (const page of all.slice(0, -1)) expect(page.length).toBeGreaterThanOrEqual(most - 1);
      expect((direction === 'forward' ? all : all.reverse()).flat()).toEqual(range(1, 40));
    }
  },

  async 'a page has the record whole, Control included, and the epoch'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.say(alice, { content: text('x'.repeat(16_000)) });
    await chat.say(alice, TITLE);
    const { records, epoch } = await chat.history(bob);
    expect(epoch).toBe(1);
    expect(records).toEqual([await chat.record(1), await chat.record(2)]);
  },
};

export const singleReads: Cases = {
  async 'readMessages answers in the order asked, undefined where there is nothing'(fixture) {
    const { alice, chat } = pair(fixture);
    await chat.say(alice);
    await chat.skip(3);
    await chat.say(alice);
    const messages = await chat.messages.readMessages(TENANT, chat.conversationId, [5, 3, 1, 5, 6, 900].map(seq));
    expect(messages.map((message) => message?.record.conversationSeq)).toEqual([5, undefined, 1, 5, undefined, undefined]);
    expect(messages[0]?.epoch).toBe(1);
    expect(await chat.messages.readMessages(OTHER_TENANT, chat.conversationId, [seq(1)])).toEqual([undefined]);
    expect(await chat.messages.readMessages(TENANT, fixture.conversationId(), [seq(1)])).toEqual([undefined]);
  },

  async 'readMessages reads as many as a commit batch holds, over buckets'(fixture) {
    const { alice, chat } = pair(fixture);
    await chat.say(alice);
    await chat.skip(200);
    await Promise.all(Array.from({ length: 127 }, () => chat.say(alice)));
    const sequences = [1, ...range(202, 328)].map(seq);
    const messages = await chat.messages.readMessages(TENANT, chat.conversationId, sequences);
    expect(messages.map((message) => message?.record.conversationSeq)).toEqual(sequences);
  },

  async 'readConversation has the facts for everybody, and the entry of a member'(fixture) {
    const [alice, eve] = [fixture.user('alice'), fixture.user('eve')];
    const chat = await fixture.group(alice, []);
    const outsider = await chat.messages.readConversation(TENANT, chat.conversationId, eve);
    expect(outsider.member).toBeUndefined();
    expect(outsider.facts).toMatchObject({ title: 'a group', lastSequence: 1, epoch: 1 });
    expect((await chat.messages.readConversation(TENANT, chat.conversationId, alice)).member?.joinedSeq).toBe(1);
    expect((await chat.messages.readConversation(OTHER_TENANT, chat.conversationId, alice)).facts).toBeUndefined();
  },
};
