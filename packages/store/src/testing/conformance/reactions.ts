/** Cases: a reaction lies beside its message, is told with it, and goes with its content. */
import {
  HISTORY_PAGE_BYTES_MAX,
  type Message,
  REACTION_EMOJI_BYTES_MAX,
  REACTION_KINDS_MAX,
  REACTION_USERS_MAX,
  REACTIONS_BYTES_MAX,
  type Reactions,
  USER_ID_BYTES_MAX,
  type UserId,
  utf8Bytes,
} from '@qim/proto';
import { expect } from 'vitest';
import type { AmendOutcome } from '../../message/message-store.js';
import { encodeReactions } from '../../message/reactions.js';
import { type Chat, type Fixture, refusedWith, seq, TENANT, text } from './fixture.js';
import type { Cases } from './suite.js';

const [UP, HEART, FAMILY] = ['\u{1F44D}', '\u2764\uFE0F', '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}\u200D\u{1F466}'] as const;

async function react(chat: Chat, actor: UserId, at: number, emoji: string, on = true): Promise<AmendOutcome> {
  return chat.messages.react({ actor, target: await chat.record(at), emoji, on });
}

async function messageAt(chat: Chat, at: number): Promise<Message> {
  const [message] = await chat.messages.readMessages(chat.tenantId, chat.conversationId, [seq(at)]);
  if (message === undefined) throw new Error(`no record ${at}`);
  return message;
}

async function reactionsAt(chat: Chat, at: number): Promise<Reactions | undefined> {
  return (await messageAt(chat, at)).reactions;
}

async function caughtUp(chat: Chat, userId: UserId, after: number, amendmentCursor: number, clearedSeq = 0) {
  const { tenantId, conversationId } = chat;
  const query = { tenantId, userId, conversationId, clearedSeq: seq(clearedSeq), epoch: 1, after: seq(after), amendmentCursor, limit: 200 };
  const page = await chat.messages.catchUp(query);
  if (page.kind === 'reset') throw new Error('a reaction starts no new epoch');
  return page;
}

async function pair(fixture: Fixture) {
  const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
  const chat = fixture.direct(alice, bob);
  await chat.sayTimes(alice, 3);
  return { alice, bob, chat };
}

export const reacting: Cases = {
  async 'reactions are told with the message, in the order in which they were set'(fixture) {
    const { alice, bob, chat } = await pair(fixture);
    await react(chat, bob, 2, HEART);
    await react(chat, bob, 2, UP);
    const outcome = await react(chat, alice, 2, HEART);
    const reactions = {
      revision: 3,
      kinds: [
        { emoji: HEART, userIds: [bob, alice] },
        { emoji: UP, userIds: [bob] },
      ],
    };
    expect(outcome).toEqual({ kind: 'amended', message: await messageAt(chat, 2) });
    expect(await reactionsAt(chat, 2)).toEqual(reactions);
    expect((await chat.history(bob)).reactions).toEqual(new Map([[2, reactions]]));
    expect((await chat.history(bob, { position: { after: seq(0) } })).reactions).toEqual(new Map([[2, reactions]]));
    expect((await caughtUp(chat, bob, 1, 0)).reactions).toEqual(new Map([[2, reactions]]));
    expect(await reactionsAt(chat, 1)).toBeUndefined();
  },

  async 'the record, the head, the counts and the preview stay as they are'(fixture) {
    const { bob, chat } = await pair(fixture);
    const before = [await chat.record(3), await chat.summary(bob), (await chat.sound(bob)).listing.preview];
    await react(chat, bob, 3, FAMILY);
    expect([await chat.record(3), await chat.summary(bob), (await chat.sound(bob)).listing.preview]).toEqual(before);
    expect((await chat.say(bob)).conversationSeq).toBe(4);
  },

  async 'a device that held the message is told, once however many reactions came, and never below its floor'(fixture) {
    const { alice, bob, chat } = await pair(fixture);
    const cursor = (await chat.sound(bob)).listing.amendmentNumber;
    for (const emoji of [UP, HEART, FAMILY]) await react(chat, alice, 2, emoji);
    const page = await caughtUp(chat, bob, 3, cursor);
    expect(page.amended.map(({ conversationSeq }) => conversationSeq)).toEqual([2]);
    expect(page.reactions.get(seq(2))?.kinds).toHaveLength(3);
    expect(page.nextAmendmentCursor).toBe(cursor + 3);
    expect((await caughtUp(chat, bob, 3, page.nextAmendmentCursor)).amended).toEqual([]);
    await react(chat, alice, 2, UP, false);
    const next = await caughtUp(chat, bob, 3, page.nextAmendmentCursor);
    expect(next.reactions.get(seq(2))?.kinds.map(({ emoji }) => emoji)).toEqual([HEART, FAMILY]);
    const cleared = await caughtUp(chat, bob, 3, cursor, 2);
    expect([cleared.amended, cleared.reactions]).toEqual([[], new Map()]);
  },

  async 'what is so already writes nothing'(fixture) {
    const { alice, bob, chat } = await pair(fixture);
    const number = async () => (await chat.sound(bob)).listing.amendmentNumber;
    expect(await react(chat, bob, 1, UP, false)).toMatchObject({ kind: 'amended' });
    expect([await reactionsAt(chat, 1), await number()]).toEqual([undefined, 0]);
    await react(chat, bob, 1, UP);
    expect(await react(chat, bob, 1, UP)).toEqual({ kind: 'amended', message: await messageAt(chat, 1) });
    await react(chat, alice, 1, UP, false);
    await react(chat, bob, 1, HEART, false);
    expect([await reactionsAt(chat, 1), await number()]).toEqual([{ revision: 1, kinds: [{ emoji: UP, userIds: [bob] }] }, 1]);
  },

  async 'one that is taken off is gone, and the revision goes on from there'(fixture) {
    const { alice, bob, chat } = await pair(fixture);
    await react(chat, bob, 1, UP);
    await react(chat, alice, 1, UP);
    await react(chat, bob, 1, UP, false);
    expect(await reactionsAt(chat, 1)).toEqual({ revision: 3, kinds: [{ emoji: UP, userIds: [alice] }] });
    await react(chat, alice, 1, UP, false);
    expect(await reactionsAt(chat, 1)).toEqual({ revision: 4, kinds: [] });
    await react(chat, bob, 1, UP);
    expect(await reactionsAt(chat, 1)).toEqual({ revision: 5, kinds: [{ emoji: UP, userIds: [bob] }] });
  },

  async 'many at once lose none'(fixture) {
    const alice = fixture.user('alice');
    const users = Array.from({ length: 20 }, (_, i) => fixture.user(`u${i}`));
    const chat = await fixture.group(alice, users);
    await chat.say(alice);
    await Promise.all(users.flatMap((user, i) => [react(chat, user, 2, UP), react(chat, user, 2, i % 2 === 0 ? HEART : FAMILY)]));
    const reactions = await reactionsAt(chat, 2);
    expect(reactions?.revision).toBe(40);
    expect(reactions?.kinds.map(({ userIds }) => userIds.length).sort((a, b) => a - b)).toEqual([10, 10, 20]);
  },

  async 'only a member reacts, and whoever left stays among those who did'(fixture) {
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = await fixture.group(alice, [bob]);
    await chat.say(alice);
    await react(chat, bob, 2, UP);
    await refusedWith(react(chat, fixture.user('dave'), 2, UP), 'NotMember');
    await chat.leave(bob, bob);
    await refusedWith(react(chat, bob, 2, UP, false), 'NotMember');
    expect((await reactionsAt(chat, 2))?.kinds).toEqual([{ emoji: UP, userIds: [bob] }]);
  },

  async 'an edit keeps them, a recall and a delete erase them in their step'(fixture) {
    const { bob, chat } = await pair(fixture);
    for (const at of [1, 2, 3]) await react(chat, bob, at, UP);
    const kept = { revision: 1, kinds: [{ emoji: UP, userIds: [bob] }] };
    expect(await chat.edit(1, 'better')).toMatchObject({ kind: 'amended', message: { reactions: kept } });
    expect(await reactionsAt(chat, 1)).toEqual(kept);
    const recalled = await chat.recall(2);
    expect(recalled.kind === 'amended' && recalled.message.reactions).toBeUndefined();
    await chat.delete(3);
    expect((await chat.history(bob)).reactions).toEqual(new Map([[1, kept]]));
    expect([await reactionsAt(chat, 2), await reactionsAt(chat, 3)]).toEqual([undefined, undefined]);
  },

  async 'an amendment that came first refuses the step, so that nothing lands on what was erased'(fixture) {
    const { bob, chat } = await pair(fixture);
    const target = await chat.record(2);
    await chat.recall(2);
    expect(await chat.messages.react({ actor: bob, target, emoji: UP, on: true })).toEqual({ kind: 'changed' });
    expect(await reactionsAt(chat, 2)).toBeUndefined();
    const other = await chat.record(3);
    await react(chat, bob, 3, UP);
    // Another reaction is no such change.
    expect((await chat.messages.react({ actor: bob, target: other, emoji: HEART, on: true })).kind).toBe('amended');
  },

  async 'retention takes them with their records, and from the newest with its content'(fixture) {
    const { bob, chat } = await pair(fixture);
    for (const at of [1, 2, 3]) await react(chat, bob, at, UP);
    await chat.messages.retain(TENANT, chat.conversationId, { olderThanMs: undefined, keepNewest: 1 });
    expect([...(await chat.history(bob)).reactions.keys()]).toEqual([3]);
    await chat.messages.retain(TENANT, chat.conversationId, { olderThanMs: undefined, keepNewest: 0 });
    expect((await chat.history(bob)).reactions).toEqual(new Map());
  },

  async 'each change has an outbox entry, and no change none'(fixture) {
    const { bob, chat } = await pair(fixture);
    const { outbox } = fixture.store;
    await react(chat, bob, 2, UP);
    await react(chat, bob, 2, UP);
    const kinds: string[] = [];
    for (let partition = 0; partition < outbox.partitionCount; partition += 1) {
      const lease = await outbox.acquire(partition, `reader ${chat.conversationId}`, 60_000);
      if (lease === undefined) continue;
      for (;;) {
        const { entries } = await outbox.read([lease], 0, new AbortController().signal);
        if (entries.length === 0) break;
        for (const entry of entries) if (entry.conversationId === chat.conversationId) kinds.push(`${entry.kind} ${entry.conversationSeq}`);
      }
      await outbox.release(lease);
    }
    expect(kinds).toEqual(['created 1', 'committed 2', 'committed 3', 'amended 2']);
  },
};

export const reactionBounds: Cases = {
  async 'a message has REACTION_KINDS_MAX different ones and not one more'(fixture) {
    const { alice, bob, chat } = await pair(fixture);
    const emoji = (n: number) => String.fromCodePoint(0x1f400 + n);
    for (let n = 0; n < REACTION_KINDS_MAX; n += 1) await react(chat, bob, 1, emoji(n));
    await refusedWith(react(chat, bob, 1, emoji(REACTION_KINDS_MAX)), 'ResourceLimit');
    await react(chat, alice, 1, emoji(0));
    await react(chat, bob, 1, emoji(1), false);
    await react(chat, bob, 1, emoji(REACTION_KINDS_MAX));
    expect((await reactionsAt(chat, 1))?.kinds).toHaveLength(REACTION_KINDS_MAX);
  },

  async 'one emoji keeps REACTION_USERS_MAX users and not one more'(fixture) {
    const alice = fixture.user('alice');
    const users = Array.from({ length: REACTION_USERS_MAX + 1 }, (_, i) => fixture.user(`u${i}`));
    const chat = await fixture.group(alice, users);
    await chat.say(alice);
    for (const user of users.slice(0, -1)) await react(chat, user, 2, UP);
    const last = users[REACTION_USERS_MAX] ?? alice;
    await refusedWith(react(chat, last, 2, UP), 'ResourceLimit');
    await react(chat, last, 2, HEART);
    expect((await reactionsAt(chat, 2))?.kinds.map(({ userIds }) => userIds.length)).toEqual([REACTION_USERS_MAX, 1]);
  },

  async 'all of a message are stored in REACTIONS_BYTES_MAX bytes; past it none is set, and any is taken off'(fixture) {
    const alice = fixture.user('alice');
    const users = Array.from({ length: 90 }, (_, i) => longId(fixture, i));
    const chat = await fixture.group(alice, users);
    await chat.say(alice);
    const { messageId } = await chat.record(2);
    const size = async () => encodeReactions(messageId, (await reactionsAt(chat, 2)) ?? { revision: 0, kinds: [] }).length;
    const emoji = (n: number) => `${n}`.padEnd(REACTION_EMOJI_BYTES_MAX, 'x');
    for (const n of [0, 1]) for (const user of users) await react(chat, user, 2, emoji(n));
    const perUser = USER_ID_BYTES_MAX + 1;
    const room = REACTIONS_BYTES_MAX - (await size()) - (REACTION_EMOJI_BYTES_MAX + 2);
    for (const user of users.slice(0, Math.floor(room / perUser) - 1)) await react(chat, user, 2, emoji(2));
    // Two that fill what is left to the byte, and one that would not fit.
    const left = REACTIONS_BYTES_MAX - (await size());
    const half = Math.floor(left / 2);
    const [first, second] = [fixture.user('a'.repeat(half - 14)), fixture.user('b'.repeat(left - half - 14))];
    await chat.join(alice, first, second, fixture.user('one more'));
    await react(chat, first, 2, emoji(2));
    await react(chat, second, 2, emoji(2));
    expect(await size()).toBe(REACTIONS_BYTES_MAX);
    await refusedWith(react(chat, fixture.user('one more'), 2, emoji(2)), 'ResourceLimit');
    expect(await size()).toBe(REACTIONS_BYTES_MAX);
    await react(chat, first, 2, emoji(2), false);
    expect(await size()).toBe(REACTIONS_BYTES_MAX - half);
  },

  async 'reactions count towards the bytes of a page'(fixture) {
    const alice = fixture.user('alice');
    const users = Array.from({ length: REACTION_USERS_MAX }, (_, i) => longId(fixture, i));
    const chat = await fixture.group(alice, users);
    const half = 'x'.repeat(16 * 1024);
    const count = Math.floor(HISTORY_PAGE_BYTES_MAX / half.length);
    for (let n = 0; n < count; n += 1) await chat.say(alice, { content: text(half) });
    const last = count + 1;
    expect((await chat.page(alice, { position: { after: seq(1) } }))[1]).toBe(false);
    await react(chat, alice, last, UP);
    expect(utf8Bytes(UP)).toBe(4);
    expect(await chat.page(alice, { position: { after: seq(1) } })).toEqual([Array.from({ length: count - 1 }, (_, i) => i + 2), true]);
  },
};

/** Of USER_ID_BYTES_MAX bytes. */
function longId(fixture: Fixture, n: number): UserId {
  return fixture.user(`${n} `.padEnd(USER_ID_BYTES_MAX - 13, 'y'));
}
