/** Cases of both stores: what of records, index and facts is found beside the kinds of the damage matrix, and how it is mended. */
import {
  COMMIT_BATCH_MAX,
  ControlKind,
  HistoryVisibility,
  MessageStatus,
  MessageType,
  Role,
  SEQUENCE_JUMP_MAX,
  SEQUENCES_SKIPPED_AFTER_LOSS,
} from '@qim/proto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { encodeRecord } from '../src/message/codec.js';
import { type Chat, control, seq, TITLE, text } from '../src/testing/conformance/fixture.js';
import type { ConversationChange } from '../src/verify/mender.js';
import { REPAIR_SENDER } from '../src/verify/placeholder.js';
import type { VerifiedStore } from './verify-backends.js';
import { Subject, type Verified } from './verify-harness.js';
import { chatOfFive } from './verify-matrix.js';

const dropAll = (n: number): ConversationChange[] => [
  { kind: 'dropRecord', sequence: seq(n) },
  { kind: 'unindex', sequence: seq(n) },
];

export function recordCases(store: VerifiedStore): void {
  let subject: Subject;
  let chat: Chat;
  beforeAll(async () => {
    subject = await Subject.open(store);
  });
  afterAll(() => subject.backend.close());
  beforeEach(async () => {
    chat = await chatOfFive(subject);
  });

  const scope = () => ({ tenantId: chat.tenantId, conversationId: chat.conversationId });
  const verify = (options = {}): Promise<Verified> => subject.verify({ ...scope(), ...options });
  const mends = (...found: string[]): Promise<Verified> => subject.mends(scope(), found);
  const damage = (kind: Parameters<typeof subject.backend.damage>[1], at: number): Promise<void> =>
    subject.backend.damage({ tenantId: chat.tenantId, conversationId: chat.conversationId, conversationSeq: seq(at) }, kind);
  const statuses = async (): Promise<number[]> => (await chat.history(subject.bob)).records.map(({ status }) => status);
  const deletedAt = async (): Promise<number[]> =>
    (await chat.history(subject.bob)).records.flatMap(({ status, conversationSeq }) =>
      status === MessageStatus.Deleted ? [conversationSeq] : [],
    );

  describe(`${store.name}: a record that is gone`, () => {
    test('with its index member is named by the one after it', async () => {
      await subject.plant(chat, ...dropAll(3));
      await mends('recordMissing@3');
      expect(await deletedAt()).toEqual([3]);
    });

    test('with others before it: the one that is named is replaced, the others are holes that only a retry knew of', async () => {
      await subject.plant(chat, ...dropAll(2), ...dropAll(3));
      await mends('recordMissing@3', 'dedupLeftOver@2/alice');
      expect(await chat.page(subject.bob)).toEqual([[1, 3, 4, 5], false]);
    });

    test('is vouched for by the index, however many there are', async () => {
      await subject.plant(chat, { kind: 'dropRecord', sequence: seq(2) }, { kind: 'dropRecord', sequence: seq(3) });
      await mends('recordMissing@2', 'recordMissing@3');
      expect(await deletedAt()).toEqual([2, 3]);
    });

    test('at the very beginning is named by the second', async () => {
      await subject.plant(chat, ...dropAll(1));
      await mends('recordMissing@1');
      expect(await deletedAt()).toEqual([1]);
    });

    test('with all the others: the facts alone speak for the newest, and nothing looks as if it never was', async () => {
      await subject.plant(chat, ...[1, 2, 3, 4, 5].flatMap(dropAll), { kind: 'dropBody', sequence: seq(4) });
      await mends('recordMissing@5', ...[1, 2, 3, 4].map((n) => `dedupLeftOver@${n}/alice`));
      expect(await chat.summary(subject.bob)).toMatchObject({ latestConversationSeq: 5, unreadCount: 0, unreadExact: true });
      expect(await deletedAt()).toEqual([5]);
    });

    test('is not given again: the facts that were ahead keep their sequences', async () => {
      await subject.plantFacts(chat, { lastSequence: seq(9) });
      await mends('headWrong@5');
      const { epoch, reservedThrough } = await subject.facts(chat);
      expect([epoch, reservedThrough]).toEqual([2, 9]);
      expect((await chat.say(subject.alice)).conversationSeq).toBe(10);
    });
  });

  test.each([
    [5 + SEQUENCE_JUMP_MAX, 5 + SEQUENCE_JUMP_MAX + 1],
    [5 + SEQUENCE_JUMP_MAX + 1, 5 + SEQUENCES_SKIPPED_AFTER_LOSS + 1],
  ])(`${store.name}: facts that name %i are believed up to a jump that no failover makes`, async (lastSequence, next) => {
    await subject.plantFacts(chat, { lastSequence: seq(lastSequence) });
    await mends('headWrong@5');
    expect((await chat.say(subject.alice)).conversationSeq).toBe(next);
  });

  describe(`${store.name}: the record that takes a place`, () => {
    test('has ids of its own, says nothing, and devices resync', async () => {
      const before = await chat.record(3);
      await damage('recordTruncated', 3);
      await mends('recordUnreadable@3');
      const after = await chat.record(3);
      expect(after).toMatchObject({
        status: MessageStatus.Deleted,
        content: { kind: 'none' },
        sender: { userId: REPAIR_SENDER },
        prevSequence: 2,
        committedAtMs: (await chat.record(2)).committedAtMs,
      });
      expect([after.messageId, after.activityId]).not.toContain(before.messageId);
      expect(after.activityId).not.toBe(after.messageId);
      expect((await subject.facts(chat)).epoch).toBe(2);
    });

    test('keeps sender, type and time where the header was whole', async () => {
      const { sender, type, committedAtMs } = await chat.record(4);
      await damage('bodyMissing', 4);
      await mends('bodyMissing@4');
      expect(await chat.record(4)).toMatchObject({ sender: { userId: sender.userId }, type, committedAtMs, content: { kind: 'none' } });
    });

    test('is Control where lists never showed the lost one', async () => {
      await chat.say(subject.alice, TITLE);
      await damage('recordTruncated', 6);
      await mends('recordUnreadable@6');
      expect(await chat.record(6)).toMatchObject({ type: MessageType.Control, status: MessageStatus.Deleted });
      const { summary, listing } = await chat.sound(subject.bob);
      expect([summary.latestConversationSeq, summary.unreadCount, listing.preview?.conversationSeq]).toEqual([6, 5, 5]);
    });

    test('leaves its bytes in quarantine, body and all', async () => {
      const record = await chat.record(4);
      await damage('bodyBitFlipped', 4);
      await mends('bodyUnreadable@4');
      const aside = await subject.quarantine(chat);
      expect(aside.map(({ was, code, conversationSeq }) => [was, code, conversationSeq])).toEqual([
        ['a record', 'bodyUnreadable', 4],
        ['a body', 'bodyUnreadable', 4],
      ]);
      expect(aside[0]?.bytes).toEqual(Buffer.from(encodeRecord(record).record));
      expect(aside[1]?.bytes?.length).toBe(encodeRecord(record).body?.length);
    });

    test('takes the amendments entry and the de-duplication entry of the lost one away', async () => {
      await chat.edit(2, 'edited');
      const request = chat.request(subject.alice, 'retried');
      const first = await chat.messages.commit(request);
      await damage('recordTruncated', 2);
      await damage('recordTruncated', first.conversationSeq);
      const repaired = await mends('recordUnreadable@2', 'recordUnreadable@6');
      expect(repaired.mended.map(([place]) => place)).toContain('dedupLeftOver@6/alice');
      const again = await chat.messages.commit(request);
      expect(again).toMatchObject({ duplicate: false, conversationSeq: 7 });
    });
  });

  describe(`${store.name}: what nothing vouches for`, () => {
    test('an unreadable record past the newest is put aside, and no record takes its place', async () => {
      await subject.plant(chat, { kind: 'record', sequence: seq(7), record: Buffer.from('garbage'), body: Buffer.from('more of it') });
      await mends('recordLeftOver@7');
      expect((await chat.summary(subject.bob)).latestConversationSeq).toBe(5);
      expect((await subject.quarantine(chat)).map(({ bytes }) => bytes?.toString())).toEqual(['garbage', 'more of it']);
    });

    test('a member of the index between two linked records never was one', async () => {
      await chat.skip(3);
      await chat.say(subject.alice);
      await subject.plant(chat, { kind: 'index', sequence: seq(7) });
      await mends('indexMemberExtra@7');
      expect(await chat.unread(subject.bob)).toEqual([6, true]);
      expect((await subject.facts(chat)).epoch, 'no device holds anything else').toBe(1);
    });

    test('a body without a record, and one beside a record that has none apart', async () => {
      await subject.plant(chat, ...withBody(await chat.record(2)), {
        kind: 'record',
        sequence: seq(8),
        record: Buffer.of(1),
        body: Buffer.of(2),
      });
      await subject.plant(chat, { kind: 'dropRecord', sequence: seq(8) });
      await mends('bodyLeftOver@2', 'bodyLeftOver@8');
      expect((await chat.record(2)).content).toEqual({ kind: 'text', text: 'text 2' });
    });

    test('what lies before that which retention left is removed, and not kept', async () => {
      const old = await chat.record(2);
      await chat.messages.retain(chat.tenantId, chat.conversationId, { olderThanMs: undefined, keepNewest: 2 });
      await subject.plant(chat, { kind: 'record', sequence: seq(2), ...encodeRecord(old) }, { kind: 'index', sequence: seq(3) });
      await mends('recordLeftOver@2', 'recordLeftOver@3');
      expect(await subject.quarantine(chat)).toEqual([]);
      expect(await chat.page(subject.bob)).toEqual([[4, 5], false]);
    });

    test('what the facts say was removed, and is there in record and index, was not: the facts are wrong', async () => {
      await subject.plantFacts(chat, { retainedFrom: seq(4) });
      await damage('recordTruncated', 2);
      await mends('recordUnreadable@2', 'retainedFromWrong@5');
      expect((await subject.facts(chat)).retainedFrom).toBe(1);
      expect(await chat.page(subject.bob)).toEqual([[1, 2, 3, 4, 5], false]);
    });
  });

  const withBody = (record: Awaited<ReturnType<Chat['record']>>): ConversationChange[] => [
    { kind: 'record', sequence: record.conversationSeq, record: encodeRecord(record).record, body: Buffer.from('left over') },
  ];

  describe(`${store.name}: whole records`, () => {
    test('that skip one which is there are linked to it', async () => {
      const { record, body } = encodeRecord({ ...(await chat.record(4)), prevSequence: seq(2) });
      await subject.plant(chat, { kind: 'record', sequence: seq(4), record, body });
      await mends('chainBroken@4');
      expect(await statuses()).toEqual([1, 1, 1, 1, 1]);
      expect((await chat.record(4)).content).toEqual(text('long '.repeat(2_000)));
    });

    test('do not go back in time, nor do those after them', async () => {
      const { committedAtMs } = await chat.record(2);
      const { record, body } = encodeRecord({ ...(await chat.record(3)), committedAtMs: committedAtMs - 1_000 });
      await subject.plant(chat, { kind: 'record', sequence: seq(3), record, body });
      await mends('commitTimeBack@3');
      expect((await chat.record(3)).committedAtMs).toBe(committedAtMs);
    });

    test('that no index has are put into it, all of them in one finding', async () => {
      await Promise.all(Array.from({ length: 3 * COMMIT_BATCH_MAX }, () => chat.say(subject.alice)));
      await damage('indexKeyMissing', 0);
      await mends('indexMissing');
      expect(await chat.sequences(subject.bob)).toHaveLength(3 * COMMIT_BATCH_MAX + 5);
    });

    test('say when the newest was committed, and what the facts say is nobody’s guess', async () => {
      const { committedAtMs } = await chat.record(5);
      await subject.plantFacts(chat, { lastCommittedAtMs: committedAtMs + 1e12 });
      await mends('commitTimeWrong@5');
      expect((await subject.facts(chat)).lastCommittedAtMs).toBe(committedAtMs);
    });

    test('past the facts are the newest, and the time of the facts follows', async () => {
      const { committedAtMs } = await chat.record(5);
      await subject.plantFacts(chat, { lastSequence: seq(3), lastCommittedAtMs: committedAtMs - 10 });
      await mends('headWrong@5', 'commitTimeWrong@5');
      expect(await subject.facts(chat)).toMatchObject({ lastSequence: 5, lastCommittedAtMs: committedAtMs, epoch: 1 });
    });

    test('of holes and retention are nothing to find', async () => {
      await chat.skip(700);
      await chat.sayTimes(subject.alice, 3);
      await chat.edit(707, 'edited');
      await chat.recall(706);
      await chat.messages.retain(chat.tenantId, chat.conversationId, { olderThanMs: undefined, keepNewest: 4 });
      expect((await verify()).places).toEqual([]);
      await chat.messages.retain(chat.tenantId, chat.conversationId, { olderThanMs: undefined, keepNewest: 0 });
      expect((await verify()).places).toEqual([]);
    });

    test('of a newer qim are left to it, and their neighbours are mended', async () => {
      await damage('recordUnknownVersion', 3);
      await damage('recordTruncated', 2);
      expect((await verify()).places).toEqual(['recordUnreadable@2', 'unsupportedVersion@3']);
      const repaired = await verify({ repair: 'yes' });
      expect(repaired.mended.map(([place]) => place)).toEqual(['recordUnreadable@2', 'dedupLeftOver@2/alice']);
      expect(repaired.left).toEqual([['unsupportedVersion@3', expect.stringContaining('a newer qim')]]);
      expect(repaired.counts.left).toBe(1);
      await verify({ repair: 'yes', newerIsDamage: true });
      expect((await verify()).places).toEqual([]);
      expect(await deletedAt()).toEqual([2, 3]);
    });
  });

  describe(`${store.name}: facts that are gone`, () => {
    test('are made from the records of a group: title, settings, preview, amendments', async () => {
      const { alice, bob, fixture } = subject;
      chat = await fixture.group(alice, [bob], { onlyAdminsPost: true });
      await chat.say(alice, { type: MessageType.Control, content: control({ kind: ControlKind.Title, title: 'the last title' }) });
      const settings = { historyVisibility: HistoryVisibility.All, onlyAdminsPost: true };
      await chat.say(alice, { type: MessageType.Control, content: control({ kind: ControlKind.Settings, settings }) });
      await chat.say(alice, 'shown');
      await chat.edit(4, 'edited');
      await chat.say(alice, TITLE);
      const before = await subject.facts(chat);
      await damage('factsMissing', 0);
      await mends('factsMissing');
      const after = await subject.facts(chat);
      expect(after).toMatchObject({ ...before, title: 'a title', settings, epoch: after.epoch, reservedThrough: after.reservedThrough });
      expect(after.epoch).toBeGreaterThan(before.epoch);
      expect(after.reservedThrough).toBeGreaterThan(before.lastSequence);
      const members = await chat.messages.readMembers(chat.tenantId, chat.conversationId);
      expect([...members].map(([userId, { role }]) => [userId, role])).toEqual([
        [alice, Role.Owner],
        [bob, Role.Member],
      ]);
    });

    test('are made anew for a direct conversation, with its pair', async () => {
      await damage('factsMissing', 0);
      const repaired = await mends('factsMissing');
      expect(repaired.mended[0]?.[1]).toContain('a direct conversation');
      expect((await subject.facts(chat)).pair).toEqual([subject.alice, subject.bob].sort());
    });

    test('with every record cannot be made, and it says so', async () => {
      await subject.plant(chat, ...[1, 2, 3, 4, 5].flatMap(dropAll), { kind: 'dropBody', sequence: seq(4) });
      await damage('factsMissing', 0);
      const repaired = await verify({ repair: 'yes' });
      expect(repaired.left).toEqual([['factsMissing', expect.stringContaining('no record')]]);
    });
  });
}
