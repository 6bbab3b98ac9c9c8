/** Commits of several conversations in one script call: what one of them meets is nothing to the others. */
import { COMMIT_BATCH_MAX, COMMIT_CONVERSATIONS_MAX, DEDUP_WEEK_MS } from '@qim/proto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { KeySpace } from '../src/redis/keys.js';
import { type Chat, refusedWith } from '../src/testing/conformance/fixture.js';
import { ClusterBackend } from './cluster-backend.js';
import { type RawClient, RedisBackend, rawClient } from './redis-backend.js';
import { People } from './redis-operations.js';

const keySpace = new KeySpace(64);
let backend: RedisBackend;
let raw: RawClient;
let people: People;

beforeEach(async () => {
  backend = await RedisBackend.open({ fastPaths: true });
  raw = await rawClient(backend.url);
  people = new People(backend);
});

afterEach(async () => {
  raw.destroy();
  await backend.close();
});

async function chatsOf(count: number): Promise<readonly Chat[]> {
  const chats = Array.from({ length: count }, (_, n) => people.fixture.direct(people.alice, people.fixture.user(`friend-${n}`)));
  await Promise.all(chats.map((chat) => chat.say(people.alice)));
  return chats;
}

/** How many script calls the server is asked for while `work` runs. */
async function callsOf(work: () => Promise<unknown>): Promise<number> {
  const log = await backend.server.commandLog();
  try {
    await work();
    return (await log.read()).filter(({ name }) => name === 'EVALSHA').length;
  } finally {
    log.close();
  }
}

const sayIn = (chats: readonly Chat[]) => Promise.all(chats.map((chat) => chat.say(people.alice)));

test('as many conversations as the bound are one call, and one more are two', async () => {
  const chats = await chatsOf(COMMIT_CONVERSATIONS_MAX + 1);
  expect(await callsOf(() => sayIn(chats.slice(1)))).toBe(1);
  expect(await callsOf(() => sayIn(chats))).toBe(2);
});

test('a call has no more commits than one conversation alone may have in it', async () => {
  const [one, other] = (await chatsOf(2)) as [Chat, Chat];
  const many = Array.from({ length: COMMIT_BATCH_MAX - 1 }, () => one);
  expect(await callsOf(() => sayIn([...many, other]))).toBe(1);
  expect(await callsOf(() => sayIn([...many, other, other]))).toBe(2);
});

test('of a crowd in one conversation the next full call is sent before the answers of the last', async () => {
  await backend.close();
  raw.destroy();
  let calls = 0;
  const observer = {
    roundTrip: () => {
      calls += 1;
    },
  };
  backend = await RedisBackend.open({ observer });
  raw = await rawClient(backend.url);
  people = new People(backend);
  const [chat] = (await chatsOf(1)) as [Chat];
  calls = 0;
  const atAnswer: number[] = [];
  const crowd = Array.from({ length: 3 * COMMIT_BATCH_MAX }, async () => {
    const { conversationSeq } = await chat.say(people.alice);
    atAnswer.push(calls);
    return conversationSeq;
  });
  expect(await Promise.all(crowd)).toEqual(Array.from({ length: 3 * COMMIT_BATCH_MAX }, (_, i) => i + 2));
  const answeredAfter = (call: number) => new Set(atAnswer.slice((call - 1) * COMMIT_BATCH_MAX, call * COMMIT_BATCH_MAX));
  expect([1, 2, 3].map(answeredAfter)).toEqual([new Set([2]), new Set([3]), new Set([3])]);
});

test('without short cuts each conversation has a call of its own', async () => {
  await backend.close();
  raw.destroy();
  backend = await RedisBackend.open({ fastPaths: false });
  raw = await rawClient(backend.url);
  people = new People(backend);
  const chats = await chatsOf(3);
  expect(await callsOf(() => sayIn(chats))).toBe(3);
});

test('sequences go on in each of them, also where a bucket was guessed wrong', async () => {
  const [near, far, other] = (await chatsOf(3)) as [Chat, Chat, Chat];
  await far.skip(1_000);
  const said = await sayIn([near, far, other, far]);
  expect(said.map(({ conversationSeq }) => conversationSeq)).toEqual([2, 1_002, 2, 1_003]);
  for (const chat of [near, other]) expect((await chat.summary(people.alice)).latestConversationSeq).toBe(2);
  expect((await far.summary(people.alice)).latestConversationSeq).toBe(1_003);
});

test('the wrong type of one conversation’s key is that one’s damage alone', async () => {
  const chats = (await chatsOf(3)) as [Chat, Chat, Chat];
  const [, { tenantId, conversationId }] = chats;
  const week = Math.floor(Date.now() / DEDUP_WEEK_MS);
  await raw.sendCommand(['SET', keySpace.conversation(tenantId, conversationId).dedup(week - 1), 'a string']);
  const [first, second, third] = chats.map((chat) => chat.say(people.alice));
  await refusedWith(Promise.resolve(second), 'CorruptRecord');
  expect((await first)?.conversationSeq).toBe(2);
  expect((await third)?.conversationSeq).toBe(2);
});

test('a refusal, a duplicate and a conflict beside a fresh one are each told to their own caller', async () => {
  const [one, two, three, four] = (await chatsOf(4)) as [Chat, Chat, Chat, Chat];
  const again = two.request(people.alice);
  const other = three.request(people.alice);
  await Promise.all([two.messages.commit(again), three.messages.commit(other)]);
  const results = [
    one.say(people.bob),
    two.messages.commit(again),
    three.messages.commit({ ...other, content: { kind: 'text', text: 'something else' } }),
    four.say(people.alice),
  ] as const;
  await refusedWith(results[0], 'NotMember');
  await refusedWith(results[2], 'IdempotencyConflict');
  expect(await results[1]).toMatchObject({ duplicate: true, conversationSeq: 2 });
  expect(await results[3]).toMatchObject({ duplicate: false, conversationSeq: 2 });
});

test('on a Cluster those of one partition share a call', async () => {
  let flushes = 0;
  const observer = {
    roundTrip: () => {
      flushes += 1;
    },
  };
  const cluster = await ClusterBackend.open({ fastPaths: true, partitions: 2, observer });
  try {
    people = new People(cluster);
    const chats = await chatsOf(20);
    const keys = new KeySpace(2);
    const partitions = new Set(chats.map(({ tenantId, conversationId }) => keys.conversation(tenantId, conversationId).partition));
    flushes = 0;
    const said = await sayIn(chats);
    expect(said.map(({ conversationSeq }) => conversationSeq)).toEqual(chats.map(() => 2));
    expect(flushes).toBe(partitions.size);
  } finally {
    await cluster.close();
  }
});
