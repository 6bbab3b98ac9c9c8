/** Cases: one message per sender and clientMessageId. */
import { DEDUP_WEEK_MS, MessageType, parseActivityId, parseClientMessageId, parseMessageId, parseUserId } from '@qim/proto';
import { uuidv7 } from 'uuidv7';
import { expect } from 'vitest';
import type { CommitRequest } from '../../message/message-store.js';
import { type Fixture, NO_MENTIONS, refusedWith, seq, text } from './fixture.js';
import type { Cases } from './suite.js';

const DAY_MS = 24 * 60 * 60 * 1000;

/** A retry brings fresh ids, which must not be used. */
function again(request: CommitRequest): CommitRequest {
  return { ...request, messageId: parseMessageId(uuidv7()), activityId: parseActivityId(uuidv7()) };
}

function pair(fixture: Fixture) {
  const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
  return { alice, bob, chat: fixture.direct(alice, bob) };
}

export const deduplication: Cases = {
  async 'the same again succeeds with the ids of the first, and writes nothing'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    const request = chat.request(alice);
    const first = await chat.messages.commit(request);
    await chat.say(bob);
    const retry = await chat.messages.commit(again(request));
    expect(retry).toEqual({ ...first, duplicate: true, created: false });
    expect(await chat.sequences(bob)).toEqual([1, 2]);
  },

  async 'ten retries at once make one record, and all get the same ids'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.say(bob);
    const request = chat.request(alice);
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => chat.messages.commit(again(request))));
    expect(outcomes.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    const ids = outcomes.map(({ conversationSeq, messageId, activityId }) => `${conversationSeq} ${messageId} ${activityId}`);
    expect(new Set(ids).size).toBe(1);
    expect(await chat.sequences(bob)).toEqual([1, 2]);
  },

  async 'other content under the same id is a conflict, in whatever it differs'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.say(bob);
    const replyTo = { conversationSeq: seq(1), messageId: (await chat.record(1)).messageId };
    const request = chat.request(alice);
    await chat.messages.commit(request);
    const others: readonly Partial<CommitRequest>[] = [
      { content: text('hello ') },
      { type: MessageType.Custom },
      { mentions: { userIds: [bob], all: false } },
      { mentions: { ...NO_MENTIONS, all: true } },
      { replyTo },
      { content: { kind: 'data', contentType: 'text/plain', data: Buffer.from('hello') } },
    ];
    for (const other of others) await refusedWith(chat.messages.commit({ ...again(request), ...other }), 'IdempotencyConflict');
    expect(await chat.sequences(bob)).toEqual([1, 2]);
  },

  async "the id is the sender's own, and of one conversation"(fixture) {
    const { alice, bob, chat } = pair(fixture);
    const clientMessageId = parseClientMessageId('one');
    expect((await chat.say(alice, { clientMessageId })).duplicate).toBe(false);
    expect((await chat.say(bob, { clientMessageId })).duplicate).toBe(false);
    expect((await fixture.direct(alice, bob).say(alice, { clientMessageId })).duplicate).toBe(false);
  },

  async 'sender and id that read alike when run together are two'(fixture) {
    const users = ['a', 'a:b', 'a b', 'a%3Ab'].map((name) => parseUserId(name));
    const ids = ['b:c', 'c', 'b c', ':b:c', '%3Ab'].map((id) => parseClientMessageId(id));
    const chat = await fixture.group(fixture.user('alice'), users);
    for (const user of users) {
      for (const clientMessageId of ids) expect((await chat.say(user, { clientMessageId })).duplicate).toBe(false);
    }
  },

  async 'a duplicate answers with the record as it is now, and the activityId of the first commit'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    const request = chat.request(alice);
    const first = await chat.messages.commit(request);
    await chat.edit(1, 'better');
    const retry = await chat.messages.commit(again(request));
    expect(retry).toMatchObject({ duplicate: true, messageId: first.messageId, activityId: first.activityId });
    expect(retry.message?.record).toEqual(await chat.record(1));
    expect(retry.message?.record.activityId).not.toBe(first.activityId);
    expect((await chat.history(bob)).records[0]?.content).toEqual(text('better'));
  },

  async 'a retry succeeds after the sender was removed, with the ids alone'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = await fixture.group(alice, [bob]);
    const request = chat.request(bob);
    const first = await chat.messages.commit(request);
    await chat.leave(alice, bob);
    expect(await chat.messages.commit(again(request))).toEqual({ ...first, duplicate: true, message: undefined });
    await refusedWith(chat.messages.commit({ ...again(request), content: text('other') }), 'IdempotencyConflict');
    await refusedWith(chat.say(bob), 'NotMember');
  },

  async 'a retry of what made a group is a duplicate, not an existing group'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = fixture.direct(alice, bob);
    if (chat.create === undefined) throw new Error('unreachable');
    const request = { ...chat.request(alice), create: { ...chat.create, onlyNew: true } };
    const first = await chat.messages.commit(request);
    expect(await chat.messages.commit(again(request))).toEqual({ ...first, duplicate: true, created: false });
  },

  async 'a retry of a join is a duplicate, not a failed precondition'(fixture) {
    const [alice, carol] = [fixture.user('alice'), fixture.user('carol')];
    const chat = await fixture.group(alice, []);
    const userIds = [carol];
    const request = { ...chat.request(alice, { type: MessageType.Control }), change: { kind: 'join', userIds } } as const;
    await chat.messages.commit(request);
    expect((await chat.messages.commit(again(request))).duplicate).toBe(true);
  },

  async 'is remembered for 6 days at least, and forgotten after 14'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    const request = chat.request(alice);
    await chat.messages.commit(request);
    await fixture.backend.advance(6 * DAY_MS);
    expect((await chat.messages.commit(again(request))).duplicate).toBe(true);
    await fixture.backend.advance(2 * DEDUP_WEEK_MS - 6 * DAY_MS);
    expect(await chat.messages.commit(again(request))).toMatchObject({ duplicate: false, conversationSeq: 2 });
    expect((await chat.messages.commit(again(request))).conversationSeq).toBe(2);
    expect(await chat.sequences(bob)).toEqual([1, 2]);
  },

  async 'a clock that is set back over the end of a week forgets nothing'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    const request = chat.request(alice);
    const first = await chat.messages.commit(request);
    await fixture.backend.advance(-DEDUP_WEEK_MS);
    expect(await chat.messages.commit(again(request))).toEqual({ ...first, duplicate: true, created: false });
    await refusedWith(chat.messages.commit({ ...again(request), content: text('other') }), 'IdempotencyConflict');
    expect(await chat.sequences(bob)).toEqual([1]);
    await fixture.backend.advance(DEDUP_WEEK_MS);
  },
};
