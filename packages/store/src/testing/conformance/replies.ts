/** Cases: a page shows of what its messages reply to only what there is now, and only to those who may see it. */
import { HistoryVisibility, MessageStatus, MessageType, parseMessageId, type ReplyTo, SNIPPET_BYTES_MAX, type UserId } from '@qim/proto';
import { uuidv7 } from 'uuidv7';
import { expect } from 'vitest';
import { type Chat, type Fixture, FROM_JOINING, refusedWith, seq, TENANT, text } from './fixture.js';
import type { Cases } from './suite.js';

async function replyTo(chat: Chat, at: number): Promise<ReplyTo> {
  const { conversationSeq, messageId } = await chat.record(at);
  return { conversationSeq, messageId };
}

async function reply(chat: Chat, by: UserId, at: number, said = 'a reply'): Promise<number> {
  return (await chat.say(by, { replyTo: await replyTo(chat, at), content: text(said) })).conversationSeq;
}

/** By the sequence of the reply: status and snippet of what it replies to. */
async function shown(chat: Chat, userId: UserId, over: Parameters<Chat['history']>[1] = {}) {
  const { replyPreviews } = await chat.history(userId, over);
  return [...replyPreviews].map(([at, { status, snippet }]) => [at, status, snippet]);
}

async function caughtUp(chat: Chat, userId: UserId, after: number) {
  const { tenantId, conversationId } = chat;
  const query = { tenantId, userId, conversationId, clearedSeq: seq(0), epoch: 0, after: seq(after), amendmentCursor: 0, limit: 200 };
  const page = await chat.messages.catchUp(query);
  if (page.kind === 'reset') throw new Error('nothing is to begin anew');
  return [...page.replyPreviews].map(([at, { snippet }]) => [at, snippet]);
}

async function pair(fixture: Fixture) {
  const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
  const chat = fixture.direct(alice, bob);
  await chat.say(alice, 'one');
  return { alice, bob, chat };
}

const { Normal, Edited, Recalled } = MessageStatus;
const LONG = '\u6F22'.repeat(2_000);

export const replies: Cases = {
  async 'a reply comes with who said what, and when, in every kind of page'(fixture) {
    const { alice, bob, chat } = await pair(fixture);
    const first = await chat.record(1);
    await reply(chat, bob, 1);
    const preview = {
      messageId: first.messageId,
      conversationSeq: 1,
      type: MessageType.Text,
      status: Normal,
      senderUserId: alice,
      snippet: 'one',
      truncated: false,
      committedAtMs: first.committedAtMs,
    };
    for (const position of ['newest', { after: seq(0) }, { after: seq(1) }, { before: seq(3) }] as const) {
      expect((await chat.history(alice, { position })).replyPreviews).toEqual(new Map([[2, preview]]));
    }
    expect(await caughtUp(chat, alice, 1)).toEqual([[2, 'one']]);
    expect((await chat.history(alice, { position: { before: seq(2) } })).replyPreviews).toEqual(new Map());
  },

  async 'it shows what was said as it is now: edited, and never what was recalled'(fixture) {
    const { alice, bob, chat } = await pair(fixture);
    await reply(chat, bob, 1);
    await chat.edit(1, 'better');
    expect(await shown(chat, alice)).toEqual([[2, Edited, 'better']]);
    await chat.recall(1);
    expect(await shown(chat, alice)).toEqual([[2, Recalled, '']]);
    expect(JSON.stringify([...(await chat.history(bob)).replyPreviews])).not.toMatch(/one|better/);
  },

  async 'a reply that was recalled shows nothing, and one that was edited shows it still, also to a device that held it'(fixture) {
    const { alice, bob, chat } = await pair(fixture);
    await reply(chat, bob, 1);
    await reply(chat, alice, 2);
    await chat.edit(3, 'a better reply');
    expect(await caughtUp(chat, bob, 3)).toEqual([[3, 'a reply']]);
    await chat.recall(2);
    expect(await shown(chat, alice)).toEqual([[3, Recalled, '']]);
  },

  async 'what is apart shows its snippet, and a body that is apart keeps its reply'(fixture) {
    const { alice, bob, chat } = await pair(fixture);
    await chat.say(alice, { content: text(LONG) });
    await reply(chat, bob, 2, LONG);
    expect(await shown(chat, alice)).toEqual([[3, Normal, LONG.slice(0, Math.floor(SNIPPET_BYTES_MAX / 3))]]);
  },

  async 'whoever may not see what is replied to sees nothing of it'(fixture) {
    const [alice, bob, carol] = [fixture.user('alice'), fixture.user('bob'), fixture.user('carol')];
    const chat = await fixture.group(alice, [bob]);
    await chat.say(alice, 'before carol');
    await chat.join(alice, carol);
    await reply(chat, bob, 2);
    expect(await shown(chat, carol)).toEqual([]);
    expect(await caughtUp(chat, carol, 3)).toEqual([]);
    expect(await shown(chat, bob)).toEqual([[4, Normal, 'before carol']]);
    // Nor does one who has cleared it.
    expect(await shown(chat, bob, { clearedSeq: seq(2) })).toEqual([]);
    await refusedWith(shown(chat, fixture.user('dave')), 'NotMember');
    const open = { ...FROM_JOINING, historyVisibility: HistoryVisibility.All };
    const shows = await fixture.group(alice, [], open);
    await shows.say(alice, 'before carol');
    await shows.join(alice, carol);
    await reply(shows, alice, 2);
    expect(await shown(shows, carol)).toEqual([[4, Normal, 'before carol']]);
  },

  async 'what retention took, and another message in its place, show nothing'(fixture) {
    const { alice, bob, chat } = await pair(fixture);
    await chat.say(alice, { replyTo: { conversationSeq: seq(1), messageId: parseMessageId(uuidv7()) } });
    await reply(chat, bob, 2);
    expect((await shown(chat, alice)).map(([at]) => at)).toEqual([3]);
    await chat.messages.retain(TENANT, chat.conversationId, { olderThanMs: undefined, keepNewest: 1 });
    expect(await shown(chat, alice)).toEqual([]);
  },

  async 'a page of replies to one message shows it with each'(fixture) {
    const { alice, bob, chat } = await pair(fixture);
    for (let n = 0; n < 5; n += 1) await reply(chat, bob, 1);
    expect(await shown(chat, alice, { limit: 3 })).toEqual([4, 5, 6].map((at) => [at, Normal, 'one']));
  },
};

export const repliesToDamage: Cases = {
  async 'what is replied to is damaged: the page stands without it'(fixture) {
    const { alice, bob, chat } = await pair(fixture);
    await reply(chat, bob, 1);
    const { tenantId, conversationId } = chat;
    await fixture.backend.damage?.({ tenantId, conversationId, conversationSeq: seq(1) }, 'recordBitFlipped');
    expect(await shown(chat, alice, { position: { after: seq(1) } })).toEqual([]);
    expect(await chat.page(alice, { position: { after: seq(1) } })).toEqual([[2], false]);
  },
};
