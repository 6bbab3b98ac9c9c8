/** Cases: catching up on new records and on amendments. */
import {
  HISTORY_PAGE_BYTES_MAX,
  HISTORY_PAGE_SIZE_MAX,
  HistoryVisibility,
  type MessageRecord,
  MessageStatus,
  SEQ_ZERO,
  type UserId,
} from '@qim/proto';
import { expect } from 'vitest';
import type { CatchUpPage, CatchUpQuery } from '../../message/message-store.js';
import { type Chat, type Fixture, OTHER_TENANT, refusedWith, seq, text } from './fixture.js';
import type { Cases } from './suite.js';

type Page = Extract<CatchUpPage, { kind: 'page' }>;

function pair(fixture: Fixture) {
  const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
  return { alice, bob, chat: fixture.direct(alice, bob) };
}

function ask(chat: Chat, userId: UserId, over: Partial<CatchUpQuery> = {}): Promise<CatchUpPage> {
  const { tenantId, conversationId } = chat;
  const nothing = { clearedSeq: SEQ_ZERO, epoch: 1, after: SEQ_ZERO, amendmentCursor: 0, limit: HISTORY_PAGE_SIZE_MAX };
  return chat.messages.catchUp({ tenantId, userId, conversationId, ...nothing, ...over });
}

async function pageOf(chat: Chat, userId: UserId, over: Partial<CatchUpQuery> = {}): Promise<Page> {
  const answer = await ask(chat, userId, over);
  if (answer.kind === 'reset') throw new Error('nothing was to be dropped');
  return answer;
}

const sequences = (records: readonly MessageRecord[]): number[] => records.map(({ conversationSeq }) => conversationSeq);

/** A device that holds what it was told, and catches up page by page. */
class Device {
  readonly held = new Map<number, MessageRecord>();
  readonly pages: Page[] = [];
  #after = SEQ_ZERO;
  #cursor = 0;

  async catchUp(chat: Chat, userId: UserId, over: Partial<CatchUpQuery> = {}): Promise<void> {
    for (let hasMore = true; hasMore; ) {
      const page = await pageOf(chat, userId, { after: this.#after, amendmentCursor: this.#cursor, ...over });
      const moved = page.nextAfter > this.#after || page.nextAmendmentCursor > this.#cursor;
      if (page.hasMore && !moved) throw new Error('a page that says that there is more goes forward');
      for (const record of [...page.records, ...page.amended]) this.held.set(record.conversationSeq, record);
      this.pages.push(page);
      [this.#after, this.#cursor, hasMore] = [page.nextAfter, page.nextAmendmentCursor, page.hasMore];
    }
  }

  get records(): MessageRecord[] {
    return [...this.held.values()].sort((a, b) => a.conversationSeq - b.conversationSeq);
  }
}

export const catchingUp: Cases = {
  async 'tells what is new and what was amended of what is held, in its present state'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 4);
    const first = await pageOf(chat, bob);
    expect([sequences(first.records), first.amended, first.hasMore]).toEqual([[1, 2, 3, 4], [], false]);
    expect(first).toMatchObject({ nextAfter: 4, nextAmendmentCursor: 0, epoch: 1 });
    await chat.edit(2, 'once');
    await chat.recall(1);
    await chat.edit(2, 'twice');
    await chat.say(alice);
    await chat.edit(5, 'new in its present state');
    const next = await pageOf(chat, bob, { after: first.nextAfter, amendmentCursor: first.nextAmendmentCursor });
    expect([sequences(next.records), next.records[0]?.content]).toEqual([[5], text('new in its present state')]);
    expect(next.amended).toEqual([await chat.record(1), await chat.record(2)]);
    expect(next.amended.map(({ status, content }) => [status, content])).toEqual([
      [MessageStatus.Recalled, { kind: 'none' }],
      [MessageStatus.Edited, text('twice')],
    ]);
    expect(next).toMatchObject({ hasMore: false, nextAfter: 5, nextAmendmentCursor: 4 });
    const last = await pageOf(chat, bob, { after: next.nextAfter, amendmentCursor: next.nextAmendmentCursor });
    expect(last).toMatchObject({ records: [], amended: [], hasMore: false, nextAfter: 5, nextAmendmentCursor: 4 });
  },

  async 'an amendment of what is not held yet is told with the record itself, and skipped'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 5);
    for (const at of [3, 4, 5]) await chat.edit(at, `edit ${at}`);
    const page = await pageOf(chat, bob, { after: seq(3), limit: 1 });
    expect([sequences(page.records), sequences(page.amended), page.hasMore]).toEqual([[4], [3], true]);
    const device = new Device();
    await device.catchUp(chat, bob, { limit: 2 });
    expect(device.records).toEqual((await chat.history(bob)).records);
  },

  async 'another epoch, a head or an amendment that is not there: begin anew; who holds nothing never must'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 2);
    await chat.edit(1, 'edited');
    for (const over of [{ epoch: 2 }, { after: seq(3) }, { amendmentCursor: 2 }]) {
      expect(await ask(chat, bob, over)).toEqual({ kind: 'reset', epoch: 1 });
      expect((await ask(chat, bob, { ...over, epoch: 0 })).kind).toBe('page');
    }
    expect((await ask(chat, bob, { after: seq(2), amendmentCursor: 1 })).kind).toBe('page');
    expect(await pageOf(chat, bob, { epoch: 0, after: seq(3), amendmentCursor: 9 })).toMatchObject({ nextAmendmentCursor: 1 });
  },

  async 'says that there is more exactly when there is, of either list'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 6);
    for (const at of [1, 2, 3]) await chat.edit(at, `edit ${at}`);
    const page = async (over: Partial<CatchUpQuery>) => {
      const { records, amended, hasMore, nextAfter, nextAmendmentCursor } = await pageOf(chat, bob, over);
      return [sequences(records), sequences(amended), hasMore, nextAfter, nextAmendmentCursor];
    };
    expect(await page({ after: seq(3), limit: 3 })).toEqual([[4, 5, 6], [1, 2, 3], false, 6, 3]);
    expect(await page({ after: seq(3), limit: 2 })).toEqual([[4, 5], [1, 2], true, 5, 2]);
    expect(await page({ after: seq(6), limit: 2 })).toEqual([[], [1, 2], true, 6, 2]);
    expect(await page({ after: seq(6), limit: 2, amendmentCursor: 2 })).toEqual([[], [3], false, 6, 3]);
    expect(await page({ after: seq(6), limit: 1, amendmentCursor: 3 })).toEqual([[], [], false, 6, 3]);
    // Nothing of the one that was looked at is held: the cursor goes on all the same.
    expect(await page({ after: seq(2), limit: 1, amendmentCursor: 2 })).toEqual([[3], [], true, 3, 3]);
    expect(await page({ after: seq(0), limit: 6 })).toEqual([[1, 2, 3, 4, 5, 6], [], false, 6, 3]);
    for (const limit of [0, HISTORY_PAGE_SIZE_MAX + 1]) await expect(ask(chat, bob, { limit })).rejects.toThrow('HISTORY_PAGE_SIZE_MAX');
  },

  async 'a joiner catches up from the join, and is told of no amendment before it'(fixture) {
    const [alice, carol] = [fixture.user('alice'), fixture.user('carol')];
    const chat = await fixture.group(alice, []);
    await chat.sayTimes(alice, 2);
    await chat.join(alice, carol);
    await chat.sayTimes(alice, 2);
    await chat.edit(2, 'before the join');
    await chat.edit(5, 'after it');
    const all = await pageOf(chat, carol, { limit: 3 });
    expect([sequences(all.records), all.amended, all.hasMore]).toEqual([[4, 5, 6], [], false]);
    const held = await pageOf(chat, carol, { after: seq(6) });
    expect(sequences(held.amended)).toEqual([5]);
    const open = await fixture.group(alice, [], { historyVisibility: HistoryVisibility.All });
    await open.say(alice);
    await open.join(alice, carol);
    await open.edit(2, 'seen');
    expect(sequences((await pageOf(open, carol, { after: seq(3) })).amended)).toEqual([2]);
  },

  async 'what was cleared is not told in any form'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 5);
    for (const at of [2, 4]) await chat.edit(at, 'edited');
    const clearedSeq = seq(3);
    expect(sequences((await pageOf(chat, bob, { clearedSeq })).records)).toEqual([4, 5]);
    expect(sequences((await pageOf(chat, bob, { clearedSeq, after: seq(5) })).amended)).toEqual([4]);
    const behind = await pageOf(chat, bob, { clearedSeq, after: seq(3) });
    expect([sequences(behind.records), behind.amended, behind.nextAmendmentCursor]).toEqual([[4, 5], [], 2]);
    const all = await pageOf(chat, bob, { clearedSeq: seq(5), after: seq(2) });
    expect(all).toMatchObject({ records: [], amended: [], hasMore: false, nextAfter: 2 });
  },

  async 'both lists share HISTORY_PAGE_BYTES_MAX, new records first, and every page goes forward'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    const large = (n: number) =>
      ({ type: 3, content: { kind: 'data', contentType: 'a/b', data: new Uint8Array(64_000).fill(n) } }) as const;
    const fitting = Math.floor(HISTORY_PAGE_BYTES_MAX / 64_000);
    for (let n = 0; n < fitting + 2; n += 1) await chat.say(alice, large(n));
    const device = new Device();
    await device.catchUp(chat, bob);
    expect(device.pages.map(({ records }) => records.length)).toEqual([fitting, 2]);
    for (let at = 1; at <= fitting + 2; at += 1) await chat.amend(await chat.record(at), { content: large(at + 100).content });
    for (let n = 0; n < fitting; n += 1) await chat.say(alice, large(n));
    device.pages.length = 0;
    await device.catchUp(chat, bob);
    expect(device.pages.map(({ records, amended }) => [records.length, amended.length])).toEqual([
      [fitting, 0],
      [0, fitting],
      [0, 2],
    ]);
    expect(device.records).toEqual(await everything(chat, bob));
  },

  async 'crosses holes and buckets'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    for (const hole of [0, 300, 0, 70_000, 0]) {
      if (hole > 0) await chat.skip(hole);
      await chat.say(alice, 'long '.repeat(1_000));
    }
    const device = new Device();
    await device.catchUp(chat, bob, { limit: 2 });
    for (const { conversationSeq } of device.records) await chat.edit(conversationSeq, 'other '.repeat(1_000));
    await device.catchUp(chat, bob, { limit: 2 });
    expect(device.records).toEqual(await everything(chat, bob));
  },

  async 'outsiders, former members, other tenants and no such conversation are refused alike'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = await fixture.group(alice, [bob]);
    await refusedWith(ask(chat, fixture.user('eve')), 'NotMember');
    await chat.leave(bob, bob);
    for (const epoch of [0, 1, 2]) await refusedWith(ask(chat, bob, { epoch }), 'NotMember');
    await refusedWith(ask(chat, alice, { tenantId: OTHER_TENANT }), 'NotMember');
    await refusedWith(ask(chat, alice, { conversationId: fixture.conversationId() }), 'NotMember');
  },

  async 'while others write, a device that goes on catching up ends with what is there'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 10);
    const device = new Device();
    const write = async (n: number) => {
      await chat.say(alice, `during ${n}`);
      await chat.edit((n % 10) + 1, `edit ${n}`);
    };
    for (let n = 0; n < 12; n += 1) await Promise.all([device.catchUp(chat, bob, { limit: 3 }), write(n), write(n + 5)]);
    await device.catchUp(chat, bob, { limit: 3 });
    expect(device.records).toEqual((await chat.history(bob)).records);
  },
};

async function everything(chat: Chat, userId: UserId): Promise<MessageRecord[]> {
  const records: MessageRecord[] = [];
  for (let hasMore = true; hasMore; ) {
    const page = await chat.history(userId, { position: { after: records.at(-1)?.conversationSeq ?? SEQ_ZERO } });
    records.push(...page.records);
    hasMore = page.hasMore;
  }
  return records;
}

/** Of a backend with bytes to damage. */
export const catchingUpOnDamage: Cases = {
  async 'damage of a new or an amended record, and a record that is missing from the index, are told'(fixture) {
    const { damage } = fixture.backend;
    if (damage === undefined) throw new Error('a backend that names kinds of damage can do it');
    const made = async () => {
      const { alice, bob, chat } = pair(fixture);
      await chat.sayTimes(alice, 4);
      await chat.edit(2, 'edited');
      return { bob, chat };
    };
    for (const kind of ['recordMissing', 'recordBitFlipped', 'recordOfAnother'] as const) {
      for (const [at, after] of [
        [3, 0],
        [2, 4],
      ] as const) {
        const { bob, chat } = await made();
        await damage({ ...chat, conversationSeq: seq(at) }, kind);
        await refusedWith(ask(chat, bob, { after: seq(after) }), 'CorruptRecord');
        expect(sequences((await pageOf(chat, bob, { after: seq(3), amendmentCursor: 1 })).records)).toEqual([4]);
      }
    }
    const { bob, chat } = await made();
    await damage({ ...chat, conversationSeq: seq(3) }, 'indexMemberMissing');
    await refusedWith(ask(chat, bob, { after: seq(2) }), 'CorruptRecord');
    await damage({ ...chat, conversationSeq: seq(4) }, 'indexMemberMissing');
    await refusedWith(ask(chat, bob, { after: seq(4) }), 'CorruptRecord');
  },
};
