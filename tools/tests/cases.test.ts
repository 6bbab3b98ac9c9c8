/**
 * What went wrong in other systems, tried on qim's real write and read side over its embedded store. Named after the rule;
 * the public report is in the comment. docs/reliability.md lists all cases and where each is tested.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Caller,
  type ConversationId,
  LEGACY_TENANT_ID,
  type MessageRecord,
  MessageType,
  parseClientMessageId,
  parseConversationSeq,
  parseDeviceId,
  parseUserId,
  RECALL_WINDOW_MS,
  SEQ_ZERO,
} from '@qim/proto';
import { openStore } from '@qim/server';
import { type Session, type SoundConversation, startSession } from '@qim/session';
import type { Store } from '@qim/store';
import { createWriter, directConversationId, type Writer } from '@qim/writer';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

/** So often is a race run; each time both calls are under way at once. */
const RACES = 100;

let data: string;
let store: Store;
let writer: Writer;
let session: Session;
let alice: Caller;
let bob: Caller;
let round = 0;

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'qim-cases-'));
  store = await openStore({ store: 'embedded', data }, { as: 'server' });
  const deps = {
    now: Date.now,
    newId: uuidv7,
    announceRead: () => {},
    announceChange: () => {},
    announceTyping: () => {},
    announceSuspended: () => {},
    recallWindowMs: RECALL_WINDOW_MS,
  };
  writer = createWriter({
    ...deps,
    messages: store.messages,
    directory: store.directory,
    users: store.users,
    directMessages: () => 'anyone',
  });
  session = startSession(store, deps);
});
afterAll(async () => {
  await store.close();
  await rm(data, { recursive: true, force: true });
});
beforeEach(() => {
  round += 1;
  [alice, bob] = [person(`alice ${round}`), person(`bob ${round}`)];
});

const seq = parseConversationSeq;

function person(name: string): Caller {
  return { tenantId: LEGACY_TENANT_ID, userId: parseUserId(name), deviceId: parseDeviceId('phone'), admin: false };
}

async function say(from: Caller, to: Caller, text: string, readConversationSeq = SEQ_ZERO): Promise<MessageRecord> {
  const { message } = await writer.sendMessage(from, {
    target: { toUserId: to.userId },
    clientMessageId: parseClientMessageId(uuidv7()),
    type: MessageType.Text,
    content: { kind: 'text', text },
    mentionUserIds: [],
    mentionAll: false,
    replyTo: undefined,
    readConversationSeq,
  });
  if ('idsOnly' in message) throw new Error('a fresh message has its record');
  return message.record;
}

const between = (a: Caller, b: Caller): ConversationId => directConversationId(a.tenantId, a.userId, b.userId);

async function shown(to: Caller, id = between(alice, bob)): Promise<SoundConversation> {
  const { conversations } = await session.listConversations(to, { pageSize: 0, pageToken: '', explain: false });
  const found = conversations.find(({ conversationId }) => conversationId === id);
  if (found?.damaged !== undefined || found === undefined) throw new Error('it is listed, and sound');
  return found;
}

async function unread(to: Caller, id?: ConversationId): Promise<readonly [number, boolean]> {
  const { unreadCount, unreadExact } = (await shown(to, id)).summary;
  return [unreadCount, unreadExact];
}

// Case 6: nextcloud/spreed PR #13355.
test('a count that was shown before is not kept: what is recalled then is gone from the next list', async () => {
  const [, second] = [await say(alice, bob, 'one'), await say(alice, bob, 'two')];
  expect(await unread(bob)).toEqual([2, true]);
  await writer.recallMessage(alice, second);
  expect(await unread(bob)).toEqual([1, true]);
});

// Case 21: signalapp/Signal-Desktop#5900, FreeFeed/freefeed-server PR #265.
test('a mark up to a message does not swallow the one that arrives meanwhile', async () => {
  let { conversationSeq: last } = await say(alice, bob, 'first');
  for (let i = 0; i < RACES; i += 1) {
    const [, next] = await Promise.all([session.markRead(bob, between(alice, bob), last), say(alice, bob, `number ${i}`)]);
    expect(await unread(bob)).toEqual([1, true]);
    last = next.conversationSeq;
  }
});

// Case 23: openimsdk/openim-sdk-core#556, openimsdk/oimws#143.
test('a mark rises over messages of which none was unread', async () => {
  await writer.recallMessage(alice, await say(alice, bob, 'regretted'));
  const own = await say(bob, alice, 'own');
  expect(await unread(bob)).toEqual([0, true]);
  expect(await session.markRead(bob, between(alice, bob), own.conversationSeq)).toBe(own.conversationSeq);
  expect((await shown(bob)).readConversationSeq).toBe(own.conversationSeq);
});

// Case 24: openimsdk/open-im-server#3068.
test('what another one reads lowers nothing of mine', async () => {
  for (let i = 0; i < 4; i += 1) await say(bob, alice, `to alice ${i}`);
  const mine = await say(alice, bob, 'to bob');
  expect(await unread(alice)).toEqual([4, true]);
  await session.markRead(bob, between(alice, bob), mine.conversationSeq);
  expect(await unread(alice)).toEqual([4, true]);
});

// Case 25: matrix-org/matrix-js-sdk#3684.
test('my own message does not mark what came before it and was not seen', async () => {
  const seen = await say(bob, alice, 'seen');
  await say(bob, alice, 'not seen yet');
  await say(alice, bob, 'sent before it arrived', seen.conversationSeq);
  expect(await unread(alice)).toEqual([1, true]);
});

// Case 32: openimsdk/openim-sdk-core#831, nextcloud/spreed#9185.
test('a conversation whose last message is gone is listed in its place, with nothing of its words', async () => {
  await say(alice, bob, 'one');
  const last = await say(alice, bob, 'regretted');
  await writer.recallMessage(alice, last);
  const entry = await shown({ ...bob, deviceId: parseDeviceId('fresh') });
  expect(entry.summary).toMatchObject({ latestConversationSeq: last.conversationSeq, lastMessageId: last.messageId, unreadCount: 1 });
  expect(entry.preview).toMatchObject({ conversationSeq: last.conversationSeq, snippet: '' });
});

// Case 34: hmchangw/newchat PR #280.
test('the preview is the newest message, in whichever order it and a recall of the one before are done', async () => {
  for (let i = 0; i < RACES; i += 1) {
    const before = await say(alice, bob, 'before');
    const [first, second] = [() => writer.recallMessage(alice, before), () => say(alice, bob, `newest ${i}`)];
    await Promise.all(i % 2 === 0 ? [first(), second()] : [second(), first()]);
    expect((await shown(bob)).preview?.snippet).toBe(`newest ${i}`);
  }
});

// Case 35: WuKongIM/WuKongIM#81, #259.
test('the head of the list is the last record of the history', async () => {
  for (const text of ['one', 'two', 'three']) await say(alice, bob, text);
  const { summary } = await shown(bob);
  const { messages } = await session.readHistory(bob, { conversationId: between(alice, bob), position: 'newest', limit: 1 });
  expect(messages.map(({ record }) => [record.conversationSeq, record.messageId, record.activityId])).toEqual([
    [summary.latestConversationSeq, summary.lastMessageId, summary.lastActivityId],
  ]);
});

// Case 30: WuKongIM/WuKongIM#499, matrix-org/synapse#13138.
test('two nodes over one store never disagree', async () => {
  const other = startSession(store, {
    announceRead: () => {},
    announceChange: () => {},
    announceTyping: () => {},
    announceSuspended: () => {},
    now: Date.now,
    newId: uuidv7,
  });
  for (let i = 1; i <= RACES; i += 1) {
    await say(alice, bob, `number ${i}`);
    for (const node of [session, other]) {
      const { summary } = (await node.getConversation(bob, between(alice, bob), false)) as SoundConversation;
      expect([summary.latestConversationSeq, summary.unreadCount]).toEqual([i, i]);
    }
  }
  await other.markRead(bob, between(alice, bob), seq(RACES));
  expect(await unread(bob)).toEqual([0, true]);
});
