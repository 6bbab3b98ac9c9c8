/** Cases: an amendment rewrites its target in place and takes no sequence. */
import { type MessageRecord, MessageStatus, MessageType, parseActivityId, Role } from '@qim/proto';
import { uuidv7 } from 'uuidv7';
import { expect } from 'vitest';
import type { AmendOutcome } from '../../message/message-store.js';
import { type Chat, type Fixture, NO_MENTIONS, refusedWith, seq, TENANT, text } from './fixture.js';
import type { Cases } from './suite.js';

const SECRET = 'the secret that was said '.repeat(8);
/** Long enough to be kept apart. */
const LONG = 'the long secret that was said '.repeat(400);

function pair(fixture: Fixture) {
  const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
  return { alice, bob, chat: fixture.direct(alice, bob) };
}

function amended(outcome: AmendOutcome): MessageRecord {
  if (outcome.kind !== 'amended') throw new Error('it was changed meanwhile');
  return outcome.message.record;
}

async function factsOf(chat: Chat) {
  const { facts } = await chat.messages.readConversation(TENANT, chat.conversationId, chat.create?.members[0]?.userId ?? never());
  return facts ?? never();
}

function never(): never {
  throw new Error('unreachable');
}

/** Everything that the two can read of the conversation, as one text. */
async function allThatIsRead(chat: Chat, { alice, bob }: ReturnType<typeof pair>): Promise<string> {
  const sequences = (await chat.sequences(bob)).map(seq);
  return JSON.stringify([
    await chat.messages.readMessages(TENANT, chat.conversationId, sequences),
    await chat.history(alice),
    await chat.history(bob),
    await chat.reading(alice),
    await chat.reading(bob),
  ]);
}

export const amending: Cases = {
  async 'an edit changes what was said, its activity and its revision, and nothing that names it'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.say(alice, { type: MessageType.Card });
    await chat.say(bob);
    const before = await chat.record(1);
    await fixture.backend.advance(5_000);
    const record = amended(await chat.edit(1, 'better', { mentions: { userIds: [bob], all: false } }));
    expect(record).toEqual({
      ...before,
      activityId: record.activityId,
      status: MessageStatus.Edited,
      revision: 1,
      amendedAtMs: record.amendedAtMs,
      content: text('better'),
      mentions: { userIds: [bob], all: false },
    });
    expect(record.activityId).not.toBe(before.activityId);
    expect(record.amendedAtMs).toBeGreaterThanOrEqual(before.committedAtMs + 5_000);
    expect(await chat.record(1)).toEqual(record);
    expect((await chat.history(alice)).records[0]).toEqual(record);
    expect(amended(await chat.edit(1, 'best')).revision).toBe(2);
  },

  async 'it takes no sequence, and has the next amendment number'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 2);
    await chat.edit(1, 'one');
    await chat.recall(2);
    expect(await factsOf(chat)).toMatchObject({ lastSequence: 2, amendmentNumber: 2 });
    expect((await chat.sound(bob)).listing.amendmentNumber).toBe(2);
    expect((await chat.say(bob)).conversationSeq).toBe(3);
    expect((await chat.record(3)).prevSequence).toBe(2);
  },

  async 'an edit of the head changes lastActivityId and not lastMessageId'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    const { messageId, activityId } = await chat.say(alice);
    expect(await chat.summary(bob)).toMatchObject({ lastMessageId: messageId, lastActivityId: activityId });
    const record = amended(await chat.edit(1, 'better'));
    expect(await chat.summary(bob)).toMatchObject({ lastMessageId: messageId, lastActivityId: record.activityId });
  },

  async 'a recall or delete erases what was said everywhere, mentions and replyTo too'(fixture) {
    for (const [status, said] of [
      [MessageStatus.Recalled, SECRET],
      [MessageStatus.Deleted, SECRET],
      [MessageStatus.Recalled, LONG],
      [MessageStatus.Deleted, LONG],
    ] as const) {
      const people = pair(fixture);
      const { alice, bob, chat } = people;
      await chat.say(bob);
      const replyTo = { conversationSeq: seq(1), messageId: (await chat.record(1)).messageId };
      await chat.say(alice, { content: text(said), mentions: { userIds: [bob], all: true }, replyTo });
      expect(await allThatIsRead(chat, people)).toContain(said.slice(0, 100));
      // What the request carries is not kept either.
      const target = await chat.record(2);
      const record = amended(await chat.amend(target, { status, content: text(said), mentions: target.mentions }));
      expect(record).toEqual({
        ...target,
        activityId: record.activityId,
        status,
        revision: 1,
        amendedAtMs: record.amendedAtMs,
        mentions: NO_MENTIONS,
        replyTo: undefined,
        content: { kind: 'none' },
      });
      expect(await chat.record(2)).toEqual(record);
      expect(await allThatIsRead(chat, people)).not.toContain('secret');
    }
  },

  async 'a body moves apart and back inside with its length'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.say(alice);
    for (const said of ['x'.repeat(10_000), 'short', 'y'.repeat(16_000), 'z'.repeat(16_000), '']) {
      await chat.edit(1, said);
      expect((await chat.record(1)).content).toEqual(text(said));
      expect((await chat.history(bob)).records[0]?.content).toEqual(text(said));
    }
    expect((await chat.record(1)).revision).toBe(5);
  },

  async 'who judged an older state of the target is told that it changed, and nothing is written'(fixture) {
    const { alice, chat } = pair(fixture);
    await chat.say(alice);
    const target = await chat.record(1);
    const record = amended(await chat.edit(1, 'first'));
    expect(await chat.amend(target, { content: text('second') })).toEqual({ kind: 'changed' });
    expect(await chat.amend(target, { status: MessageStatus.Recalled })).toEqual({ kind: 'changed' });
    expect(await chat.record(1)).toEqual(record);
    expect((await factsOf(chat)).amendmentNumber).toBe(1);
  },

  async 'of amendments at once exactly one is made'(fixture) {
    const { alice, chat } = pair(fixture);
    await chat.say(alice);
    const target = await chat.record(1);
    const outcomes = await Promise.all(Array.from({ length: 10 }, (_, i) => chat.amend(target, { content: text(`edit ${i}`) })));
    const made = outcomes.filter(({ kind }) => kind === 'amended');
    expect(made).toHaveLength(1);
    expect(await chat.record(1)).toEqual(amended(made[0] ?? never()));
    expect((await factsOf(chat)).amendmentNumber).toBe(1);
  },

  async 'what would change nothing writes nothing'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    const mentions = { userIds: [bob], all: false };
    await chat.say(alice, { content: text('same'), mentions });
    const before = await chat.record(1);
    expect(amended(await chat.amend(before, { content: text('same'), mentions }))).toEqual(before);
    const recalled = amended(await chat.recall(1));
    expect(amended(await chat.amend(recalled, { status: MessageStatus.Recalled }))).toEqual(recalled);
    expect(await chat.record(1)).toEqual(recalled);
    expect((await factsOf(chat)).amendmentNumber).toBe(1);
  },

  async 'the actor is a member, of the role that is needed'(fixture) {
    const [alice, bob, eve] = [fixture.user('alice'), fixture.user('bob'), fixture.user('eve')];
    const chat = await fixture.group(alice, [bob]);
    await chat.say(bob);
    const target = await chat.record(2);
    const request = {
      needs: 'admin',
      target,
      activityId: parseActivityId(uuidv7()),
      content: { kind: 'none' },
      mentions: NO_MENTIONS,
    } as const;
    const by = (actor: typeof alice) => chat.messages.amend({ ...request, actor, status: MessageStatus.Deleted });
    await refusedWith(by(eve), 'NotMember');
    await refusedWith(by(bob), 'Forbidden');
    expect(await chat.record(2)).toEqual(target);
    expect(amended(await by(alice)).status).toBe(MessageStatus.Deleted);
    expect((await chat.sound(alice)).listing.member?.role).toBe(Role.Owner);
    await chat.say(bob);
    const later = await chat.record(3);
    await chat.leave(alice, bob);
    await refusedWith(chat.amend(later, { content: text('gone') }), 'NotMember');
    expect(await chat.record(3)).toEqual(later);
  },

  async 'commits and amendments at once leave every record whole'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 5);
    const amendments = [1, 2, 3, 4, 5].map((n) => (n % 2 === 0 ? chat.recall(n) : chat.edit(n, `edit ${n}`)));
    await Promise.all([...amendments, ...Array.from({ length: 10 }, () => chat.say(bob))]);
    const { records } = await chat.history(alice);
    expect(records.map(({ status }) => status).slice(0, 5)).toEqual([2, 3, 2, 3, 2]);
    expect(records.map(({ prevSequence }) => prevSequence)).toEqual(Array.from({ length: 15 }, (_, i) => i));
    expect(await factsOf(chat)).toMatchObject({ lastSequence: 15, amendmentNumber: 5 });
    expect(await chat.unread(bob)).toEqual([3, true]);
  },
};
