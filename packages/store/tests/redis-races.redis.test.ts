/**
 * Reads beside writes, on connections of their own. A pipeline is not a snapshot: whatever falls between two of its
 * commands or between its rounds must not look like damage, and never lowers a count.
 */
import { type ConversationSeq, HistoryVisibility, MessageType, type UserId } from '@qim/proto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRedisStore } from '../src/redis/open.js';
import type { Store } from '../src/store.js';
import { type Chat, Fixture, seq, TENANT, TITLE, text } from '../src/testing/conformance/fixture.js';
import { RedisBackend } from './redis-backend.js';

const APART = 'long '.repeat(1_000);
let backend: RedisBackend;
let reader: Store;

beforeAll(async () => {
  backend = await RedisBackend.open();
  reader = await openRedisStore(backend.server.url);
});
afterAll(async () => {
  await reader.close();
  await backend.close();
});

interface Scene {
  readonly chat: Chat;
  readonly alice: UserId;
  readonly bob: UserId;
}

async function scene(): Promise<Scene> {
  const fixture = new Fixture(backend);
  const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
  return { chat: await fixture.group(alice, [bob], { historyVisibility: HistoryVisibility.All }), alice, bob };
}

/** Runs `read` again and again while `write` is at work, and once more after it. */
async function beside(write: () => Promise<void>, read: () => Promise<void>): Promise<number> {
  let writing = true;
  const written = write().finally(() => {
    writing = false;
  });
  let reads = 0;
  for (; writing; reads += 1) await read();
  await read();
  await written;
  return reads;
}

test('a list never shows damage or fewer unread messages while others send', async () => {
  const { chat, alice, bob } = await scene();
  const state = { conversationId: chat.conversationId, watermark: seq(0) };
  let last = { latest: 0, unread: 0 };
  const reads = await beside(
    async () => {
      for (let n = 0; n < 40; n += 1) await Promise.all([chat.say(alice), chat.say(alice, TITLE), chat.say(alice), chat.say(bob)]);
    },
    async () => {
      const [reading] = await reader.messages.readConversations(TENANT, bob, [state, state, state]);
      if (reading?.kind !== 'sound') throw reading?.error ?? new Error('no reading');
      const { latestConversationSeq: latest, unreadCount: unread } = reading.summary;
      expect(latest).toBeGreaterThanOrEqual(last.latest);
      expect(unread).toBeGreaterThanOrEqual(last.unread);
      expect(reading.listing.previewDamage).toBeUndefined();
      expect(reading.listing.preview?.type ?? MessageType.Text).not.toBe(MessageType.Control);
      last = { latest, unread };
    },
  );
  expect(reads).toBeGreaterThan(5);
  expect(last).toEqual({ latest: 161, unread: 80 });
});

test('a message is always whole while edits take its body apart and back again', async () => {
  const { chat, alice, bob } = await scene();
  await chat.say(alice);
  const contents = new Set(['hello', 'short', APART, `${APART}!`]);
  const query = { tenantId: TENANT, userId: bob, conversationId: chat.conversationId, clearedSeq: seq(0), limit: 10 };
  await beside(
    async () => {
      for (let n = 0; n < 120; n += 1) {
        const target = await chat.record(2);
        await chat.amend(target, { content: text([APART, 'short', `${APART}!`][n % 3] ?? '') });
      }
    },
    async () => {
      const [message] = await reader.messages.readMessages(TENANT, chat.conversationId, [seq(2)]);
      const { records } = await reader.messages.readHistory({ ...query, position: 'newest' });
      for (const content of [message?.record.content, records[1]?.content]) {
        expect(contents.has(content?.kind === 'text' ? content.text : '')).toBe(true);
      }
      expect(
        (await reader.messages.readConversations(TENANT, bob, [{ conversationId: chat.conversationId, watermark: seq(0) }]))[0]?.kind,
      ).toBe('sound');
    },
  );
});

test('pages of history join without gaps while others send', async () => {
  const { chat, alice, bob } = await scene();
  const query = { tenantId: TENANT, userId: bob, conversationId: chat.conversationId, clearedSeq: seq(0), limit: 7 };
  const seen: ConversationSeq[] = [];
  await beside(
    async () => {
      for (let n = 0; n < 60; n += 1) await Promise.all([chat.say(alice), chat.say(bob)]);
    },
    async () => {
      const { records } = await reader.messages.readHistory({ ...query, position: { after: seen.at(-1) ?? seq(0) } });
      seen.push(...records.map(({ conversationSeq }) => conversationSeq));
      const back = await reader.messages.readHistory({ ...query, position: 'newest' });
      const older = await reader.messages.readHistory({ ...query, position: { before: back.records[0]?.conversationSeq ?? seq(1) } });
      const joined = [...older.records, ...back.records].map(({ conversationSeq }) => conversationSeq);
      expect(joined).toEqual(joined.map((_, i) => (joined[0] ?? 0) + i));
    },
  );
  expect(seen).toEqual(seen.map((_, i) => i + 1));
});

test('a member who is removed and comes back is told of either, and never of a part', async () => {
  const { chat, alice, bob } = await scene();
  const state = { conversationId: chat.conversationId, watermark: seq(0) };
  await beside(
    async () => {
      for (let n = 0; n < 30; n += 1) {
        await chat.leave(alice, bob);
        await chat.join(alice, bob);
      }
    },
    async () => {
      const [reading] = await reader.messages.readConversations(TENANT, bob, [state]);
      expect(reading?.kind).toBe('sound');
    },
  );
});
