/** Cases: heads and unread (seed, sections 3 and 4). The numbers in parentheses are those of the reported bugs. */
import { EXACT_UNREAD_SCAN_LIMIT, MessageType, parseUserId, type UserId } from '@qim/proto';
import { expect } from 'vitest';
import { type Chat, type Fixture, NO_MENTIONS, refusedWith, seq, TENANT, TITLE, text } from './fixture.js';
import type { Cases } from './suite.js';

const LIMIT = EXACT_UNREAD_SCAN_LIMIT;

function pair(fixture: Fixture) {
  const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
  return { alice, bob, chat: fixture.direct(alice, bob) };
}

export const counting: Cases = {
  async 'the recipient sees the canonical head and a count that is not 0'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 2);
    const { messageId, activityId } = await chat.say(alice);
    expect(await chat.summary(bob)).toEqual({
      conversationId: chat.conversationId,
      latestConversationSeq: 3,
      lastMessageId: messageId,
      lastActivityId: activityId,
      unreadCount: 3,
      unreadExact: true,
      mentionCount: 0,
    });
    expect(messageId as string).not.toBe(activityId);
  },

  async 'own messages are not counted, from any device (2)'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 3);
    await chat.sayTimes(bob, 2);
    await chat.messages.commit({ ...chat.request(alice), sender: { userId: alice, deviceId: undefined } });
    expect(await chat.unread(alice)).toEqual([2, true]);
    expect(await chat.unread(bob)).toEqual([4, true]);
  },

  async 'messages up to the watermark are not counted'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 5);
    for (const watermark of [0, 1, 4, 5]) expect(await chat.unread(bob, watermark)).toEqual([5 - watermark, true]);
  },

  async 'recalled and deleted messages are not counted, at once (3, 4)'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 5);
    await chat.delete(1);
    await chat.recall(3);
    expect(await chat.unread(bob)).toEqual([3, true]);
    await chat.delete(5);
    expect(await chat.unread(bob)).toEqual([2, true]);
    expect(await chat.unread(bob, 3)).toEqual([1, true]);
  },

  async 'Control is never counted, whoever sent it (7)'(fixture) {
    const [alice, bob, carol] = [fixture.user('alice'), fixture.user('bob'), fixture.user('carol')];
    const chat = await fixture.group(alice, [bob]);
    await chat.join(alice, carol);
    await chat.say(alice, TITLE);
    await chat.say(alice);
    expect(await chat.unread(bob)).toEqual([1, true]);
  },

  async 'an unknown type is counted'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.say(alice, { type: 4711 });
    await chat.say(alice, { type: MessageType.Custom });
    expect(await chat.unread(bob)).toEqual([2, true]);
  },

  async 'an edit counts once, and makes nothing unread again (8)'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.say(alice);
    await chat.edit(1, 'better');
    expect(await chat.unread(bob, 1)).toEqual([0, true]);
    await chat.say(alice);
    for (const said of ['a', 'b', 'c']) await chat.edit(2, said);
    expect(await chat.unread(bob, 1)).toEqual([1, true]);
  },

  async 'mentions are counted of what is counted, and an edit takes one away (8)'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    const mentionsOf = async (user: UserId) => (await chat.summary(user)).mentionCount;
    await chat.say(alice, { mentions: { userIds: [parseUserId('somebody'), bob], all: false } });
    await chat.say(alice, { mentions: { userIds: [alice], all: false } });
    await chat.say(alice, { mentions: { userIds: [], all: true } });
    await chat.say(alice, { ...TITLE, mentions: { userIds: [bob], all: false } });
    await chat.say(bob, { mentions: { userIds: [bob], all: true } });
    expect(await mentionsOf(bob)).toBe(2);
    expect(await mentionsOf(alice)).toBe(1);
    await chat.edit(1, 'without', { mentions: NO_MENTIONS });
    expect(await mentionsOf(bob)).toBe(1);
    await chat.recall(3);
    expect(await mentionsOf(bob)).toBe(0);
    expect(await chat.unread(bob)).toEqual([2, true]);
  },

  async 'who joins has nothing unread of before, also where the past is shown (14)'(fixture) {
    const [alice, carol] = [fixture.user('alice'), fixture.user('carol')];
    const chat = await fixture.group(alice, []);
    await chat.sayTimes(alice, 30);
    const { conversationSeq } = await chat.join(alice, carol);
    const floor = conversationSeq - 1;
    expect(await chat.unread(carol, floor)).toEqual([0, true]);
    await chat.say(alice);
    expect(await chat.unread(carol, floor)).toEqual([1, true]);
  },
};

export const bounds: Cases = {
  async '199 and 200 are exact, 201 and 202 are 200 and not exact (10)'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    for (const total of [9, 10, 11, 199, 200, 201, 202]) {
      const { latestConversationSeq } = total === 9 ? { latestConversationSeq: 0 } : await chat.summary(bob);
      await Promise.all(Array.from({ length: total - latestConversationSeq }, () => chat.say(alice)));
      expect(await chat.unread(bob)).toEqual([Math.min(total, LIMIT), total <= LIMIT]);
    }
    expect(await chat.unread(bob, 1)).toEqual([LIMIT, false]);
    expect(await chat.unread(bob, 2)).toEqual([200, true]);
    expect(await chat.unread(bob, 3)).toEqual([199, true]);
    expect((await chat.summary(bob, 1)).mentionCount).toBeUndefined();
    expect((await chat.summary(bob, 2)).mentionCount).toBe(0);
  },

  async 'a hole within the bound is no message'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 5);
    await chat.skip(LIMIT - 1);
    await chat.say(alice);
    expect(await chat.unread(bob, 5)).toEqual([1, true]);
    expect(await chat.unread(bob, 100)).toEqual([1, true]);
    expect(await chat.unread(bob, 4)).toEqual([LIMIT, false]);
  },

  async 'a hole past the bound makes the count conservative (1)'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 5);
    await chat.skip(300);
    expect((await chat.say(alice)).conversationSeq).toBe(306);
    expect(await chat.unread(bob, 5)).toEqual([LIMIT, false]);
    expect(await chat.unread(bob, 106)).toEqual([1, true]);
  },

  async 'past the bound own and Control records saturate as well (11)'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await Promise.all(Array.from({ length: 250 }, (_, i) => chat.say(bob, i % 2 === 0 ? TITLE : 'own')));
    await chat.say(alice);
    expect(await chat.unread(bob)).toEqual([LIMIT, false]);
    expect(await chat.unread(bob, 51)).toEqual([1, true]);
  },

  async 'a watermark past the head is 0, not exact, and said (18)'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 5);
    const { summary, listing, evidence } = await chat.sound(bob, 8);
    expect(summary).toMatchObject({ latestConversationSeq: 5, unreadCount: 0, unreadExact: false, mentionCount: undefined });
    expect(listing.watermarkAhead).toBe(true);
    expect(evidence).toMatchObject({ scanned: 0, chainUnbroken: false });
    expect((await chat.sound(bob, 5)).listing.watermarkAhead).toBe(false);
    await chat.sayTimes(alice, 4);
    expect(await chat.unread(bob, 8)).toEqual([1, true]);
  },
};

export const heads: Cases = {
  async 'the head is the newest record, the preview the newest that is not Control'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    const said = await chat.say(alice, 'shown');
    const { messageId } = await chat.say(alice, TITLE);
    const { summary, listing } = await chat.sound(bob);
    expect(summary).toMatchObject({ latestConversationSeq: 2, lastMessageId: messageId });
    expect(listing.preview).toEqual({
      messageId: said.messageId,
      conversationSeq: 1,
      type: MessageType.Text,
      status: 1,
      senderUserId: alice,
      snippet: 'shown',
      truncated: false,
      committedAtMs: said.committedAtMs,
    });
    for (const watermark of [1, 2, 3]) expect((await chat.sound(bob, watermark)).listing.preview?.conversationSeq).toBe(1);
  },

  async 'a conversation of Control alone has a head and no preview'(fixture) {
    const alice = fixture.user('alice');
    const chat = await fixture.group(alice, []);
    const { summary, listing } = await chat.sound(alice);
    expect(summary.latestConversationSeq).toBe(1);
    expect(listing).toMatchObject({ preview: undefined, previewDamage: undefined });
  },

  async 'a recalled newest message stays head and preview, without a word of it (31)'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 2);
    await chat.recall(2);
    const { summary, listing } = await chat.sound(bob, 2);
    expect(summary.latestConversationSeq).toBe(2);
    expect(listing.preview).toMatchObject({ conversationSeq: 2, status: 3, snippet: '', truncated: false });
  },

  async 'a long text shows its first 256 bytes on a character boundary'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    const previewOf = async (said: string) => {
      await chat.say(alice, said);
      const { listing } = await chat.sound(bob);
      return [listing.preview?.snippet, listing.preview?.truncated];
    };
    expect(await previewOf('é'.repeat(128))).toEqual(['é'.repeat(128), false]);
    expect(await previewOf(`x${'é'.repeat(128)}`)).toEqual([`x${'é'.repeat(127)}`, true]);
    expect(await previewOf('😀'.repeat(5000))).toEqual(['😀'.repeat(64), true]);
    expect(await previewOf(`xyz${'😀'.repeat(70)}`)).toEqual([`xyz${'😀'.repeat(63)}`, true]);
  },

  async 'data shows its content type, however long it is'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    for (const bytes of [3, 60_000]) {
      await chat.say(alice, { type: MessageType.Image, content: { kind: 'data', contentType: 'image/png', data: new Uint8Array(bytes) } });
      expect((await chat.sound(bob)).listing.preview).toMatchObject({ snippet: 'image/png', truncated: false, type: MessageType.Image });
    }
  },

  async 'an edited preview shows the new text'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.say(alice, 'old');
    await chat.say(alice, TITLE);
    await chat.edit(1, 'new');
    expect((await chat.sound(bob, 2)).listing.preview).toMatchObject({ snippet: 'new', status: 2 });
  },
};

export const calls: Cases = {
  async 'no state has no summary'(fixture) {
    const { messages } = fixture.store;
    expect(await messages.conversationSummaries(TENANT, fixture.user('bob'), [])).toEqual([]);
    expect(await messages.readConversations(TENANT, fixture.user('bob'), [])).toEqual([]);
  },

  async 'there is one summary per state, in the same order, duplicates included'(fixture) {
    const { alice, bob } = pair(fixture);
    const chats: Chat[] = [];
    for (let n = 1; n <= 5; n += 1) {
      const chat = fixture.direct(alice, bob);
      await chat.sayTimes(alice, n);
      chats.push(chat);
    }
    const states = [3, 0, 4, 3, 1, 2, 0].map((i, n) => ({
      conversationId: (chats[i] as Chat).conversationId,
      watermark: seq(n === 3 ? 2 : 0),
    }));
    const summaries = await fixture.store.messages.conversationSummaries(TENANT, bob, states);
    expect(summaries.map(({ conversationId }) => conversationId)).toEqual(states.map(({ conversationId }) => conversationId));
    expect(summaries.map(({ unreadCount }) => unreadCount)).toEqual([4, 1, 5, 2, 2, 3, 1]);
    const readings = await fixture.store.messages.readConversations(TENANT, bob, states);
    expect(readings.map((reading) => reading.kind === 'sound' && reading.summary)).toEqual(summaries);
  },

  async 'a full page of conversations is answered whole'(fixture) {
    const { alice, bob } = pair(fixture);
    const chats = Array.from({ length: 100 }, () => fixture.direct(alice, bob));
    await Promise.all(chats.map((chat, i) => chat.sayTimes(i % 2 === 0 ? alice : bob, 3)));
    const states = chats.map(({ conversationId }) => ({ conversationId, watermark: seq(1) }));
    const summaries = await fixture.store.messages.conversationSummaries(TENANT, bob, states);
    expect(summaries.map(({ unreadCount }) => unreadCount)).toEqual(chats.map((_, i) => (i % 2 === 0 ? 2 : 0)));
  },

  async 'facts that are missing are damage, never an empty conversation; the others are answered'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.say(alice);
    const missing = fixture.conversationId();
    const states = [missing, chat.conversationId].map((conversationId) => ({ conversationId, watermark: seq(0) }));
    const [damaged, sound] = await fixture.store.messages.readConversations(TENANT, bob, states);
    const detail = { tenantId: TENANT, conversationId: missing, conversationSeq: 0, reason: 'factsMissing' };
    expect(damaged).toMatchObject({ kind: 'damaged', conversationId: missing, error: { code: 'CorruptRecord', detail } });
    expect(damaged).toMatchObject({ listing: undefined, member: undefined, memberKnown: true });
    expect(sound).toMatchObject({ kind: 'sound', summary: { unreadCount: 1 } });
    await refusedWith(fixture.store.messages.conversationSummaries(TENANT, bob, states), 'CorruptRecord');
  },

  async 'an outsider is answered, and told to be none'(fixture) {
    const { alice, chat } = pair(fixture);
    await chat.say(alice);
    const { listing } = await chat.sound(fixture.user('eve'));
    expect(listing.member).toBeUndefined();
  },

  async 'the evidence adds up'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.sayTimes(alice, 6);
    await chat.sayTimes(bob, 2);
    await chat.say(alice, TITLE);
    await chat.recall(2);
    await chat.delete(3);
    const { summary, evidence } = await chat.sound(bob);
    expect(evidence).toEqual({ scanned: 9, own: 2, control: 1, recalled: 1, deleted: 1, chainUnbroken: true });
    expect(summary.unreadCount).toBe(4);
    expect((await chat.sound(bob, 9)).evidence).toMatchObject({ scanned: 0, chainUnbroken: false });
  },

  async 'while others commit, every answer fits its own head'(fixture) {
    const { alice, bob, chat } = pair(fixture);
    await chat.say(alice, 'first');
    let writing = true;
    // Sequence n is alice's text when odd, her Control when even: a head of h has ceil(h / 2) texts.
    const written = (async () => {
      for (let n = 2; n <= 80; n += 1) await chat.say(alice, n % 2 === 0 ? TITLE : 'text');
    })().finally(() => {
      writing = false;
    });
    while (writing) {
      // A store that answers without waiting would leave the writer no turn.
      await new Promise((resolve) => setImmediate(resolve));
      const { summary, listing } = await chat.sound(bob);
      const head = summary.latestConversationSeq;
      expect([head, summary.unreadCount, summary.unreadExact]).toEqual([head, Math.ceil(head / 2), true]);
      expect(listing.previewDamage).toBeUndefined();
      expect(listing.preview?.conversationSeq).toBeGreaterThanOrEqual(1);
    }
    await written;
    expect((await chat.sound(bob)).listing.preview).toMatchObject({ conversationSeq: 79, snippet: 'text' });
    expect((await chat.history(bob, { limit: 1 })).records[0]?.content).toEqual(TITLE.content ?? text(''));
  },
};
