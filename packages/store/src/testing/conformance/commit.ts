/** Cases: one atomic step per message. */
import {
  ControlKind,
  HistoryVisibility,
  MESSAGE_TYPE_MAX,
  type MessageContent,
  MessageType,
  parseActivityId,
  parseConversationId,
  parseMessageId,
  parseUserId,
  Role,
  SEQ_MAX,
  type UserId,
} from '@qim/proto';
import { uuidv7 } from 'uuidv7';
import { expect } from 'vitest';
import { control, FROM_JOINING, OTHER_TENANT, refusedWith, seq, TENANT, TITLE, text } from './fixture.js';
import type { Cases } from './suite.js';

export const touching: Cases = {
  async 'a commit that is asked to touch the sender’s list does it in the same step or leaves it, and says which'(fixture) {
    const [alice, bob, carol] = [fixture.user('alice'), fixture.user('bob'), fixture.user('carol')];
    const [first, second] = [fixture.direct(alice, bob), fixture.direct(alice, carol)];
    const { directory } = fixture.store;
    for (const chat of [first, second]) {
      const { conversationSeq, committedAtMs } = await chat.say(alice);
      const activity = { conversationSeq, activityAtMs: committedAtMs };
      const joined = (userId: UserId) => ({ userId, joinedSeq: seq(1), visibleFrom: seq(1) });
      await directory.join(TENANT, chat.conversationId, [joined(alice), joined(bob)], activity);
      await fixture.backend.advance(1_000);
    }
    const listed = async (userId: UserId) => {
      const { views } = await directory.page(TENANT, userId, 50, undefined);
      return views.map(({ conversationId }) => conversationId);
    };
    const [before, after] = [
      [second.conversationId, first.conversationId],
      [first.conversationId, second.conversationId],
    ];
    const outcome = await first.messages.commit({ ...first.request(alice), touchSender: true });
    expect(await listed(alice)).toEqual(outcome.senderTouched === true ? after : before);
    expect(await listed(bob)).toEqual(before);
    const { conversationSeq, committedAtMs: activityAtMs } = outcome;
    await directory.touch(TENANT, first.conversationId, [alice], { conversationSeq, activityAtMs });
    expect(await listed(alice)).toEqual(after);
  },

  async 'who makes a conversation by it, left it or is the system is in no list by it'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = fixture.direct(alice, bob);
    const made = await chat.messages.commit({ ...chat.request(alice), touchSender: true });
    expect(made).toMatchObject({ created: true });
    expect(made.senderTouched).toBeUndefined();
    await chat.messages.commit({ ...chat.request(bob), touchSender: true });
    for (const user of [alice, bob]) expect((await fixture.store.directory.page(TENANT, user, 50, undefined)).views).toEqual([]);
  },
};

export const creating: Cases = {
  async 'the first message of a direct conversation makes it, and both are members from the start'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = fixture.direct(alice, bob);
    const outcome = await chat.say(alice);
    expect(outcome).toMatchObject({ created: true, duplicate: false, conversationSeq: 1, message: { epoch: 1 } });
    const members = await chat.messages.readMembers(TENANT, chat.conversationId);
    const entry = { role: Role.Member, joinedSeq: 1, visibleFrom: 1 };
    expect([...members]).toEqual([
      [alice, entry],
      [bob, entry],
    ]);
    const { facts } = await chat.messages.readConversation(TENANT, chat.conversationId, alice);
    expect(facts).toMatchObject({ title: '', lastSequence: 1, retainedFrom: 1, amendmentNumber: 0, epoch: 1 });
    expect([...(facts?.pair ?? [])].sort()).toEqual([alice, bob]);
  },

  async 'a note to oneself has one member'(fixture) {
    const alice = fixture.user('alice');
    const chat = fixture.direct(alice, alice);
    await chat.say(alice);
    expect((await chat.sound(alice)).listing.pair).toEqual([alice]);
    expect(await chat.unread(alice)).toEqual([0, true]);
  },

  async 'when both sides begin a direct conversation at once, one of them makes it'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = fixture.direct(alice, bob);
    const outcomes = await Promise.all([chat.say(alice), chat.say(bob), chat.say(alice), chat.say(bob)]);
    expect(outcomes.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(outcomes.map(({ conversationSeq }) => conversationSeq))).toEqual(new Set([1, 2, 3, 4]));
    expect(outcomes.find(({ created }) => created)?.conversationSeq).toBe(1);
  },

  async 'a group keeps its title, settings and roles'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = await fixture.group(alice, [bob], { historyVisibility: HistoryVisibility.All });
    const { listing } = await chat.sound(bob);
    expect(listing).toMatchObject({
      title: 'a group',
      settings: { historyVisibility: HistoryVisibility.All, onlyAdminsPost: false },
      pair: [],
      member: { role: Role.Member, joinedSeq: 1, visibleFrom: 1 },
    });
    expect((await chat.sound(alice)).listing.member?.role).toBe(Role.Owner);
  },

  async 'without facts and without create there is no such conversation, and none is made'(fixture) {
    const alice = fixture.user('alice');
    const chat = fixture.direct(alice, alice);
    await refusedWith(chat.say(alice, { create: undefined }), 'NotMember');
    expect(await chat.messages.readConversation(TENANT, chat.conversationId, alice)).toEqual({ facts: undefined, member: undefined });
    expect((await chat.messages.readMembers(TENANT, chat.conversationId)).size).toBe(0);
  },

  async 'onlyNew is refused when the conversation exists, and writes nothing'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = await fixture.group(alice, [bob]);
    const create = { ...(chat.create ?? never()), onlyNew: true };
    await refusedWith(chat.say(alice, { create }), 'Aborted');
    expect(await chat.sequences(alice)).toEqual([1]);
  },
};

export const sequencing: Cases = {
  async 'sequences rise by one, and each record names the one before it'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = fixture.direct(alice, bob);
    await chat.sayTimes(alice, 5);
    const { records } = await chat.history(bob);
    expect(records.map(({ conversationSeq, prevSequence }) => [conversationSeq, prevSequence])).toEqual([
      [1, 0],
      [2, 1],
      [3, 2],
      [4, 3],
      [5, 4],
    ]);
  },

  async 'a hole is never filled, and the record after it names the one before it'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = fixture.direct(alice, bob);
    await chat.say(alice);
    await chat.skip(5);
    await chat.skip(2);
    const { conversationSeq } = await chat.say(bob);
    expect(conversationSeq).toBe(9);
    expect((await chat.record(9)).prevSequence).toBe(1);
    expect((await chat.say(alice)).conversationSeq).toBe(10);
    expect((await chat.sound(bob)).summary.latestConversationSeq).toBe(10);
  },

  async 'senders at once get sequences of their own, without a hole'(fixture) {
    const users = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => fixture.user(name));
    const [owner = never(), ...others] = users;
    const chat = await fixture.group(owner, others);
    const sent = await Promise.all(users.flatMap((user) => Array.from({ length: 25 }, () => chat.say(user))));
    const expected = Array.from({ length: 200 }, (_, i) => i + 2);
    expect(sent.map(({ conversationSeq }) => conversationSeq).sort((a, b) => a - b)).toEqual(expected);
    expect(await chat.sequences(owner)).toEqual([1, ...expected]);
  },

  async 'a commit that is refused does not touch those that wait beside it'(fixture) {
    const [alice, bob, eve] = [fixture.user('alice'), fixture.user('bob'), fixture.user('eve')];
    const chat = await fixture.group(alice, [bob]);
    const first = chat.request(alice, 'first');
    const calls = Array.from({ length: 30 }, (_, i) => {
      if (i % 3 === 1) return chat.say(eve);
      return i % 3 === 2 ? chat.messages.commit({ ...first, content: text(i === 2 ? 'first' : 'other') }) : chat.say(bob);
    });
    const results = await Promise.allSettled(calls);
    const codes = results.map((result) => (result.status === 'fulfilled' ? 'sent' : String((result.reason as { code: string }).code)));
    expect(codes.filter((_, i) => i % 3 === 0)).toEqual(Array<string>(10).fill('sent'));
    expect(codes.filter((_, i) => i % 3 === 1)).toEqual(Array<string>(10).fill('NotMember'));
    expect(codes.filter((_, i) => i % 3 === 2)).toEqual(['sent', ...Array<string>(9).fill('IdempotencyConflict')]);
    expect(await chat.sequences(alice)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
  },

  async 'the last sequence is given, and nothing after it'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = fixture.direct(alice, bob);
    await chat.say(alice);
    await chat.skip(SEQ_MAX - 3);
    expect((await chat.say(alice)).conversationSeq).toBe(SEQ_MAX - 1);
    expect((await chat.say(alice)).conversationSeq).toBe(SEQ_MAX);
    await refusedWith(chat.say(alice), 'ResourceLimit');
    expect(await chat.sequences(bob)).toEqual([1, SEQ_MAX - 1, SEQ_MAX]);
    expect(await chat.unread(bob, SEQ_MAX - 200)).toEqual([2, true]);
    expect(await chat.unread(bob, SEQ_MAX)).toEqual([0, true]);
    expect(await chat.record(SEQ_MAX)).toMatchObject({ prevSequence: SEQ_MAX - 1 });
  },

  async 'committedAtMs never goes back, whatever the clock does'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = fixture.direct(alice, bob);
    const first = await chat.say(alice);
    await fixture.backend.advance(-3_600_000);
    const second = await chat.say(bob);
    await fixture.backend.advance(3_600_000 + 5_000);
    const third = await chat.say(alice);
    expect(second.committedAtMs).toBe(first.committedAtMs);
    expect(third.committedAtMs).toBeGreaterThanOrEqual(first.committedAtMs + 5_000);
    expect((await chat.record(2)).committedAtMs).toBe(second.committedAtMs);
  },
};

/** Each kind of content, with a sender that names no device among them. */
const CONTENTS: readonly (readonly [number, MessageContent])[] = [
  [MessageType.Text, text('\ufeffhello é 用户 👩‍👩‍👧 \u0000 end')],
  [MessageType.Text, text('x'.repeat(16 * 1024))],
  [MessageType.Image, { kind: 'data', contentType: 'image/png', data: Uint8Array.from([0, 255, 1, 254]) }],
  [MessageType.File, { kind: 'data', contentType: 'application/octet-stream', data: new Uint8Array(64 * 1024).fill(7) }],
  [MessageType.Custom, { kind: 'data', contentType: 'application/json', data: new Uint8Array(0) }],
  [4711, text('a type that nobody knows yet')],
  [MESSAGE_TYPE_MAX, text('the greatest type')],
  [MessageType.Control, control({ kind: ControlKind.App, appType: 'poll', appData: Uint8Array.from([1, 2, 3]) })],
  [MessageType.Control, control({ kind: ControlKind.Settings, settings: { ...FROM_JOINING, onlyAdminsPost: true } })],
  [MessageType.Control, control({ kind: ControlKind.Role, userIds: [parseUserId('carol')], role: Role.Admin })],
  [MessageType.Control, control({ kind: ControlKind.Title, title: 'ein "Titel"\\' })],
];

export const storing: Cases = {
  async 'what was committed is what every reader gets'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = fixture.direct(alice, bob);
    await chat.say(bob);
    const replyTo = { conversationSeq: seq(1), messageId: (await chat.record(1)).messageId };
    const mentions = {
      userIds: Array.from({ length: 100 }, (_, i) => parseUserId('用'.repeat(20) + String(i))),
      all: true,
    };
    const request = chat.request(alice, { replyTo, mentions, type: MessageType.Card });
    const { message, ...outcome } = await chat.messages.commit(request);
    expect(message?.record).toMatchObject({
      ...{ tenantId: TENANT, conversationId: chat.conversationId, conversationSeq: 2, prevSequence: 1, revision: 0, amendedAtMs: 0 },
      ...{ messageId: request.messageId, activityId: request.activityId, clientMessageId: request.clientMessageId },
      ...{ sender: request.sender, type: MessageType.Card, status: 1, mentions, replyTo, content: request.content },
      committedAtMs: outcome.committedAtMs,
    });
    expect(await chat.messages.readMessages(TENANT, chat.conversationId, [seq(2)])).toEqual([message]);
    expect((await chat.history(bob)).records[1]).toEqual(message?.record);
    expect((await chat.history(alice)).records[1]).toEqual(message?.record);
  },

  async 'every kind of content and type comes back as it was'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = fixture.direct(alice, bob);
    for (const [type, content] of CONTENTS) await chat.say(alice, { type, content });
    const { records } = await chat.history(bob);
    expect(records.map(({ type, content }) => [type, content])).toEqual(CONTENTS);
  },

  async 'a sender whose token names no device has none'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = fixture.direct(alice, bob);
    await chat.messages.commit({ ...chat.request(alice), sender: { userId: alice, deviceId: undefined } });
    expect((await chat.record(1)).sender).toEqual({ userId: alice, deviceId: undefined });
  },

  async 'ids that look alike in a key are kept apart'(fixture) {
    const names = ['a:b', 'a%3Ab', 'a', 'b', 'A', 'ü', 'u\u0308', 'a b', 'a/b', '{a}', '*', '用户'.repeat(10)];
    const users = names.map((name) => parseUserId(name));
    const [owner = never(), ...others] = users;
    const chat = await fixture.group(owner, others);
    for (const user of users) expect((await chat.say(user)).duplicate).toBe(false);
    expect([...(await chat.messages.readMembers(TENANT, chat.conversationId)).keys()].sort()).toEqual([...users].sort());
    const { records } = await chat.history(owner);
    expect(records.slice(1).map(({ sender }) => sender.userId)).toEqual(users);
  },

  async 'two tenants with one conversation id have nothing in common'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = fixture.direct(alice, bob);
    await chat.sayTimes(alice, 3);
    const request = { ...chat.request(alice, 'elsewhere'), tenantId: OTHER_TENANT };
    await refusedWith(chat.messages.commit({ ...request, create: undefined }), 'NotMember');
    expect(await chat.messages.commit(request)).toMatchObject({ created: true, conversationSeq: 1 });
    expect(await chat.sequences(alice)).toEqual([1, 2, 3]);
    const [read] = await chat.messages.readMessages(OTHER_TENANT, chat.conversationId, [seq(1)]);
    expect(read?.record.content).toEqual(text('elsewhere'));
  },

  async 'ids are as long as they may be'(fixture) {
    const user = parseUserId('é'.repeat(32));
    const chat = fixture.direct(user, fixture.user('bob'));
    const conversationId = parseConversationId(`${chat.conversationId}`.padEnd(64, '_'));
    const request = { ...chat.request(user), conversationId, messageId: parseMessageId(uuidv7()), activityId: parseActivityId(uuidv7()) };
    await chat.messages.commit(request);
    const [message] = await chat.messages.readMessages(TENANT, conversationId, [seq(1)]);
    expect(message?.record.sender.userId).toBe(user);
  },
};

/** What must be there is not: the case itself is wrong. */
function never(): never {
  throw new Error('unreachable');
}

export const admission: Cases = {
  async 'an outsider, another tenant and no such conversation get one and the same refusal'(fixture) {
    const [alice, bob, eve] = [fixture.user('alice'), fixture.user('bob'), fixture.user('eve')];
    const chat = await fixture.group(alice, [bob]);
    const calls = [
      chat.say(eve),
      chat.messages.commit({ ...chat.request(alice), tenantId: OTHER_TENANT, create: undefined }),
      chat.messages.commit({ ...chat.request(alice), conversationId: fixture.conversationId(), create: undefined }),
    ];
    for (const result of await Promise.allSettled(calls)) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'NotMember', detail: {} } });
    }
    expect(await chat.sequences(alice)).toEqual([1]);
  },

  async 'where only admins post a member is forbidden to, and nothing is written'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = await fixture.group(alice, [bob], { onlyAdminsPost: true });
    await refusedWith(chat.say(bob), 'Forbidden');
    expect((await chat.say(bob, { ...TITLE, needs: 'member' })).conversationSeq).toBe(2);
    expect((await chat.say(alice)).conversationSeq).toBe(3);
  },

  async 'a role below what is needed is forbidden'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = await fixture.group(alice, [bob]);
    await refusedWith(chat.say(bob, { needs: 'admin' }), 'Forbidden');
    await refusedWith(chat.say(bob, { needs: 'owner' }), 'Forbidden');
    await chat.say(alice, { needs: 'owner' });
    expect(await chat.sequences(bob)).toEqual([1, 2]);
  },
};
