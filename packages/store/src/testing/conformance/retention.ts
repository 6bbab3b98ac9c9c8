/** Cases: retention removes a prefix, and everything else goes on as if it had never been. */
import {
  type ConversationSeq,
  MessageStatus,
  RECORD_BUCKET_SIZE,
  RETENTION_STEP_BUCKETS_MAX,
  RETENTION_STEP_RECORDS_MAX,
  SEQ_ZERO,
  type UserId,
} from '@qim/proto';
import { expect } from 'vitest';
import type { RetentionOutcome, RetentionPolicy } from '../../message/message-store.js';
import { type Chat, type Fixture, OTHER_TENANT, refusedWith, seq, TENANT, TITLE, text } from './fixture.js';
import type { Cases } from './suite.js';

function pair(fixture: Fixture) {
  const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
  return { alice, bob, chat: fixture.direct(alice, bob) };
}

function step(chat: Chat, policy: Partial<RetentionPolicy>): Promise<RetentionOutcome> {
  return chat.messages.retain(chat.tenantId, chat.conversationId, { olderThanMs: undefined, keepNewest: undefined, ...policy });
}

/** As many steps as it takes; how many records went. */
async function retain(chat: Chat, policy: Partial<RetentionPolicy>): Promise<number> {
  let removed = 0;
  for (let more = true; more; ) {
    const outcome = await step(chat, policy);
    removed += outcome.removed;
    more = outcome.more;
  }
  return removed;
}

const factsOf = async (chat: Chat, userId: UserId) =>
  (await chat.messages.readConversation(chat.tenantId, chat.conversationId, userId)).facts;

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

async function caughtUp(chat: Chat, userId: UserId, after: ConversationSeq, amendmentCursor = 0) {
  const { tenantId, conversationId } = chat;
  const page = await chat.messages.catchUp({
    tenantId,
    userId,
    conversationId,
    clearedSeq: SEQ_ZERO,
    epoch: 1,
    after,
    amendmentCursor,
    limit: 200,
  });
  if (page.kind === 'reset') throw new Error('retention starts no new epoch');
  return page;
}

export const retention: Cases = {
  async 'of a number: the newest are kept, and single reads, history and counts know no others'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 10);
    expect(await retain(chat, { keepNewest: 10 })).toBe(0);
    expect(await step(chat, { keepNewest: 9 })).toEqual({ removed: 1, more: false });
    expect(await retain(chat, { keepNewest: 4 })).toBe(5);
    expect(await retain(chat, { keepNewest: 4 })).toBe(0);
    expect(await chat.page(bob)).toEqual([range(7, 10), false]);
    expect(await chat.page(bob, { position: { after: seq(0) } })).toEqual([range(7, 10), false]);
    expect(await chat.page(bob, { position: { after: seq(3) }, limit: 2 })).toEqual([[7, 8], true]);
    expect(await chat.page(bob, { position: { before: seq(9) } })).toEqual([[7, 8], false]);
    expect(await chat.page(bob, { position: { before: seq(7) } })).toEqual([[], false]);
    expect(await chat.page(bob, { position: { before: seq(4) } })).toEqual([[], false]);
    for (const [watermark, unread] of [
      [0, 4],
      [3, 4],
      [6, 4],
      [7, 3],
      [10, 0],
    ] as const) {
      expect(await chat.unread(bob, watermark)).toEqual([unread, true]);
    }
    const read = await chat.messages.readMessages(TENANT, chat.conversationId, [1, 6, 7].map(seq));
    expect(read.map((message) => message?.record.conversationSeq)).toEqual([undefined, undefined, 7]);
    expect(await factsOf(chat, bob)).toMatchObject({ retainedFrom: 7, lastSequence: 10, epoch: 1 });
    expect((await chat.say(alice)).conversationSeq).toBe(11);
    expect((await chat.record(11)).prevSequence).toBe(10);
    expect(await chat.unread(bob, 2)).toEqual([5, true]);
  },

  async 'of an age: what was committed before goes, what was committed then stays'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    for (let n = 1; n <= 6; n += 1) {
      await chat.say(alice);
      await fixture.backend.advance(10_000);
    }
    const { committedAtMs } = await chat.record(4);
    expect(await retain(chat, { olderThanMs: committedAtMs })).toBe(3);
    expect(await chat.page(bob)).toEqual([[4, 5, 6], false]);
    expect(await retain(chat, { olderThanMs: committedAtMs + 1 })).toBe(1);
    expect(await retain(chat, { olderThanMs: committedAtMs + 1 })).toBe(0);
    expect(await chat.page(bob)).toEqual([[5, 6], false]);
  },

  async 'of both: what either rule names goes'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    for (let n = 1; n <= 6; n += 1) {
      await chat.say(alice);
      await fixture.backend.advance(10_000);
    }
    const { committedAtMs } = await chat.record(3);
    expect(await retain(chat, { olderThanMs: committedAtMs, keepNewest: 6 })).toBe(2);
    expect(await retain(chat, { olderThanMs: committedAtMs, keepNewest: 3 })).toBe(1);
    expect(await chat.page(bob)).toEqual([[4, 5, 6], false]);
  },

  async 'the newest is never removed: when its time has come its content is, as an amendment'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 3);
    await chat.say(alice, { content: text('long '.repeat(1_000)), mentions: { userIds: [bob], all: false } });
    const before = await chat.record(4);
    expect(await step(chat, { keepNewest: 1 })).toEqual({ removed: 3, more: false });
    expect(await chat.record(4)).toEqual(before);
    expect(await step(chat, { keepNewest: 0 })).toEqual({ removed: 0, more: false });
    const after = await chat.record(4);
    expect(after).toMatchObject({ status: MessageStatus.Deleted, content: { kind: 'none' }, mentions: { userIds: [] }, revision: 1 });
    expect(after).toMatchObject({ messageId: before.messageId, clientMessageId: before.clientMessageId, sender: before.sender });
    expect(after.activityId).not.toBe(before.activityId);
    expect(after.amendedAtMs).toBeGreaterThanOrEqual(after.committedAtMs);
    expect(await factsOf(chat, bob)).toMatchObject({ amendmentNumber: 1, retainedFrom: 4 });
    expect((await caughtUp(chat, bob, seq(4))).amended).toEqual([after]);
    const { summary, listing } = await chat.sound(bob);
    expect(summary).toMatchObject({ latestConversationSeq: 4, unreadCount: 0, unreadExact: true, lastActivityId: after.activityId });
    expect(listing.preview).toMatchObject({ conversationSeq: 4, status: MessageStatus.Deleted, snippet: '' });
    expect(await step(chat, { keepNewest: 0 })).toEqual({ removed: 0, more: false });
    expect((await factsOf(chat, bob))?.amendmentNumber).toBe(1);
    expect((await chat.say(alice)).conversationSeq).toBe(5);
    expect(await step(chat, { keepNewest: 0 })).toEqual({ removed: 1, more: false });
    expect(await chat.sequences(bob)).toEqual([5]);
  },

  async 'the step that reaches the newest by age rewrites it'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 3);
    await chat.edit(3, 'edited');
    await fixture.backend.advance(10_000);
    const { committedAtMs } = await chat.record(3);
    expect(await step(chat, { olderThanMs: committedAtMs + 1 })).toEqual({ removed: 2, more: false });
    expect(await chat.record(3)).toMatchObject({ status: MessageStatus.Deleted, revision: 2 });
    expect((await caughtUp(chat, bob, seq(3))).amended).toHaveLength(1);
  },

  async 'a recalled newest record stays as it is'(fixture) {
    const { alice, chat } = pair(fixture);
    await chat.sayTimes(alice, 2);
    await chat.recall(2);
    const before = await chat.record(2);
    expect(await retain(chat, { keepNewest: 0 })).toBe(1);
    expect(await chat.record(2)).toEqual(before);
  },

  async 'a step removes RETENTION_STEP_RECORDS_MAX records and not one more'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    const count = RETENTION_STEP_RECORDS_MAX + 2;
    await Promise.all(Array.from({ length: count }, () => chat.say(alice)));
    expect(await step(chat, { keepNewest: 2 })).toEqual({ removed: RETENTION_STEP_RECORDS_MAX, more: false });
    expect(await chat.page(bob)).toEqual([[count - 1, count], false]);
    await Promise.all(Array.from({ length: RETENTION_STEP_RECORDS_MAX }, () => chat.say(alice)));
    expect(await step(chat, { keepNewest: 0 })).toEqual({ removed: RETENTION_STEP_RECORDS_MAX, more: true });
    expect((await chat.record(2 * count - 2)).status).toBe(MessageStatus.Normal);
    expect(await step(chat, { keepNewest: 0 })).toEqual({ removed: 1, more: false });
    expect(await chat.sequences(bob)).toEqual([2 * count - 2]);
    expect((await chat.record(2 * count - 2)).status).toBe(MessageStatus.Deleted);
  },

  async 'a step touches RETENTION_STEP_BUCKETS_MAX buckets and not one more'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    const expected: number[] = [];
    for (let n = 0; n < RETENTION_STEP_BUCKETS_MAX + 2; n += 1) {
      await chat.sayTimes(alice, 2);
      expected.push((await chat.say(alice)).conversationSeq);
      await chat.skip(RECORD_BUCKET_SIZE);
    }
    expect(await step(chat, { keepNewest: 3 })).toEqual({ removed: 3 * RETENTION_STEP_BUCKETS_MAX, more: true });
    expect(await step(chat, { keepNewest: 3 })).toEqual({ removed: 3, more: false });
    const last = expected.at(-1) ?? 0;
    expect(await chat.sequences(bob)).toEqual([last - 2, last - 1, last]);
    expect(await chat.unread(bob, last - RECORD_BUCKET_SIZE - 10)).toEqual([200, false]);
    expect(await chat.unread(bob, last - 150)).toEqual([3, true]);
  },

  async 'bodies and amendments of what is removed go with it'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    for (let n = 0; n < 4; n += 1) await chat.say(alice, 'long '.repeat(1_000));
    for (const at of [1, 3, 2]) await chat.edit(at, 'other '.repeat(1_000));
    expect(await retain(chat, { keepNewest: 2 })).toBe(2);
    const page = await caughtUp(chat, bob, seq(4));
    expect([page.amended.map(({ conversationSeq }) => conversationSeq), page.nextAmendmentCursor]).toEqual([[3], 3]);
    expect((await chat.history(bob)).records.map(({ content }) => content)).toEqual([
      text('other '.repeat(1_000)),
      text('long '.repeat(1_000)),
    ]);
  },

  async 'a device that held what was removed catches up from there'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 8);
    await chat.edit(2, 'edited');
    await retain(chat, { keepNewest: 3 });
    const page = await caughtUp(chat, bob, seq(2));
    expect(page.records.map(({ conversationSeq }) => conversationSeq)).toEqual([6, 7, 8]);
    expect([page.amended, page.nextAmendmentCursor]).toEqual([[], 1]);
  },

  async 'the preview goes with its record, and comes back with the next'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = await fixture.group(alice, [bob]);
    await chat.say(alice, 'shown');
    for (let n = 0; n < 3; n += 1) await chat.say(alice, TITLE);
    expect((await chat.sound(bob)).listing.preview?.conversationSeq).toBe(2);
    await retain(chat, { keepNewest: 4 });
    expect((await chat.sound(bob)).listing.preview?.conversationSeq).toBe(2);
    await retain(chat, { keepNewest: 3 });
    for (const watermark of [0, 3, 5]) {
      const { listing } = await chat.sound(bob, watermark);
      expect([listing.preview, listing.previewDamage]).toEqual([undefined, undefined]);
    }
    await chat.say(alice, 'again');
    expect((await chat.sound(bob)).listing.preview?.conversationSeq).toBe(6);
  },

  async 'a retry of what was removed gets its ids, and writes nothing'(fixture) {
    const { alice, chat } = pair(fixture);
    const request = chat.request(alice);
    const first = await chat.messages.commit(request);
    await chat.sayTimes(alice, 2);
    await retain(chat, { keepNewest: 1 });
    const again = await chat.messages.commit(request);
    expect(again).toMatchObject({
      duplicate: true,
      conversationSeq: first.conversationSeq,
      messageId: first.messageId,
      message: undefined,
    });
  },

  async 'an amendment of what was removed changes nothing'(fixture) {
    const { alice, chat } = pair(fixture);
    await chat.sayTimes(alice, 2);
    const target = await chat.record(1);
    await retain(chat, { keepNewest: 1 });
    expect(await chat.amend(target, { content: text('late') })).toEqual({ kind: 'changed' });
  },

  async 'without a rule, a record or a conversation nothing is done'(fixture) {
    const { alice, chat } = pair(fixture);
    expect(await step(chat, { keepNewest: 0 })).toEqual({ removed: 0, more: false });
    await chat.say(alice);
    expect(await step(chat, {})).toEqual({ removed: 0, more: false });
    expect(await chat.messages.retain(OTHER_TENANT, chat.conversationId, { keepNewest: 0, olderThanMs: undefined })).toEqual({
      removed: 0,
      more: false,
    });
    expect((await chat.record(1)).status).toBe(MessageStatus.Normal);
    await expect(step(chat, { keepNewest: -1 })).rejects.toThrow('kept');
  },

  async 'beside commits and amendments nothing is lost that was to be kept'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 20);
    for (let n = 0; n < 10; n += 1) {
      const sent = Array.from({ length: 5 }, () => chat.say(alice));
      const target = (await chat.summary(bob)).latestConversationSeq;
      await Promise.all([...sent, step(chat, { keepNewest: 7 }), chat.edit(target, `edit ${n}`), step(chat, { keepNewest: 7 })]);
      const seen = await chat.sequences(bob);
      expect(seen.at(-1)).toBe(25 + 5 * n);
      expect(seen.length).toBeGreaterThanOrEqual(7);
      expect(await chat.unread(bob)).toEqual([seen.length, true]);
    }
    await retain(chat, { keepNewest: 7 });
    expect(await chat.sequences(bob)).toEqual(range(64, 70));
  },
};

/** Of a backend with bytes to damage. */
export const retentionOfDamage: Cases = {
  async 'damaged records go with those that are known to be as old; a damaged newest one is told'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    const { damage } = fixture.backend;
    if (damage === undefined) throw new Error('a backend that names kinds of damage can do it');
    await chat.sayTimes(alice, 4);
    await fixture.backend.advance(10_000);
    await chat.sayTimes(alice, 2);
    const { committedAtMs: later } = await chat.record(5);
    for (const [at, kind] of [
      [1, 'recordMissing'],
      [3, 'recordBitFlipped'],
      [4, 'recordTruncated'],
    ] as const) {
      await damage({ ...chat, conversationSeq: seq(at) }, kind);
    }
    // Whether the fourth is as old as the second cannot be known.
    expect(await step(chat, { olderThanMs: later })).toEqual({ removed: 2, more: false });
    expect(await step(chat, { olderThanMs: later })).toEqual({ removed: 0, more: false });
    expect(await step(chat, { keepNewest: 2 })).toEqual({ removed: 2, more: false });
    expect(await chat.unread(bob)).toEqual([2, true]);
    await damage({ ...chat, conversationSeq: seq(6) }, 'recordBitFlipped');
    expect(await step(chat, { keepNewest: 0 })).toEqual({ removed: 1, more: true });
    await refusedWith(step(chat, { keepNewest: 0 }), 'CorruptRecord');
    await refusedWith(chat.history(bob), 'CorruptRecord');
  },

  async 'a lost record just past what is removed is still noticed'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 5);
    await fixture.backend.damage?.({ ...chat, conversationSeq: seq(3) }, 'indexMemberMissing');
    expect(await step(chat, { keepNewest: 2 })).toEqual({ removed: 2, more: false });
    await refusedWith(chat.summary(bob), 'CorruptRecord');
    await refusedWith(chat.history(bob), 'CorruptRecord');
  },

  async 'facts and an index that cannot be read are told, and nothing is removed'(fixture) {
    for (const kind of ['factsMissing', 'factsUnreadable', 'factsAhead', 'indexKeyMissing', 'indexMemberShort'] as const) {
      const { alice, chat } = pair(fixture);
      await chat.sayTimes(alice, 3);
      await fixture.backend.damage?.(chat, kind);
      if (kind === 'indexKeyMissing') continue;
      await refusedWith(step(chat, { keepNewest: 1 }), 'CorruptRecord');
    }
  },
};

export const enumeration: Cases = {
  async 'names every conversation of every tenant, page by page'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const expected: string[] = [];
    for (let n = 0; n < 25; n += 1) {
      const chat = fixture.direct(alice, bob, n % 2 === 0 ? TENANT : OTHER_TENANT);
      await chat.say(alice);
      expected.push(`${chat.tenantId} ${chat.conversationId}`);
    }
    for (const limit of [1, 7, 1_000]) {
      const named = new Set<string>();
      let cursor: string | undefined;
      do {
        const page = await fixture.store.messages.conversations(cursor, limit);
        for (const { tenantId, conversationId } of page.conversations) named.add(`${tenantId} ${conversationId}`);
        cursor = page.next;
      } while (cursor !== undefined);
      expect(expected.filter((place) => !named.has(place))).toEqual([]);
    }
    for (const limit of [0, 1_001])
      await expect((async () => fixture.store.messages.conversations(undefined, limit))()).rejects.toThrow('CONVERSATIONS_READ_MAX');
  },
};
