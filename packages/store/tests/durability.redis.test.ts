/**
 * docs/durability.md, the rows that end a Redis: what was acknowledged and is lost, and that what is lost is never hidden:
 * no (epoch, sequence) names two messages, and what is new counts.
 */
import type { UserId } from '@qim/proto';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Store } from '../src/store.js';
import type { OpenedBackend } from '../src/testing/conformance/backend.js';
import { type Chat, Fixture, seq } from '../src/testing/conformance/fixture.js';
import type { RedisServerOptions } from '../src/testing/redis-server.js';
import { Senders } from './given-twice.js';
import { RedisPair } from './redis-pair.js';

const ENOUGH = 60;

let pair: RedisPair;
let store: Store;
let chat: Chat;
let alice: UserId;
let bob: UserId;

afterEach(() => pair.close());

async function start(options: RedisServerOptions, attached: boolean): Promise<void> {
  pair = await RedisPair.open(options, attached);
  store = await pair.openStore();
  const fixture = new Fixture({ store } as OpenedBackend);
  [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
  chat = fixture.direct(alice, bob);
}

/** Three send until `fail` is over. */
async function underLoad(senders: Senders, fail: () => Promise<void>): Promise<void> {
  const end = new AbortController();
  onTestFinished(() => end.abort());
  const next = (by: UserId) => () => chat.request(by);
  const sending = [alice, bob, alice].map((by) => senders.send(store, next(by), end.signal));
  const before = senders.acknowledged.length;
  await senders.until(before + ENOUGH);
  await fail();
  end.abort();
  await Promise.all(sending);
}

/** Everything acknowledged is sent again: how many were gone. */
async function lost(senders: Senders): Promise<number> {
  const known = [...senders.acknowledged];
  let gone = 0;
  for (const { request } of known) if (!(await senders.commit(store, request)).duplicate) gone += 1;
  return gone;
}

describe('Redis is killed under load and starts again', () => {
  test.each([
    ['AOF always: nothing is lost', 'always'],
    ['AOF everysec: what is lost is not hidden', 'everysec'],
    ['without AOF: everything is lost, and that is not hidden', 'no'],
  ] as const)('%s', async (_, appendonly) => {
    await start({ appendonly }, false);
    const senders = new Senders();
    await underLoad(senders, () => pair.first.kill());
    const { length } = senders.acknowledged;
    await pair.restart(pair.first);
    const gone = await lost(senders);
    if (appendonly === 'always') expect(gone).toBe(0);
    if (appendonly === 'no') expect(gone).toBe(length);
    expect(senders.twice).toEqual([]);
  });
});

test('a lagging replica is promoted: what is lost is not hidden, whatever had been read', async () => {
  await start({ appendonly: 'always' }, true);
  const senders = new Senders();
  await underLoad(senders, () => pair.caughtUp());
  pair.lag();
  await underLoad(senders, () => Promise.resolve());
  const newest = Math.max(...senders.acknowledged.map(({ outcome }) => outcome.conversationSeq));
  await pair.promote();
  const { conversationSeq } = await senders.commit(store, chat.request(alice));
  expect(conversationSeq).toBeGreaterThan(newest);
  const unread = await chat.summary(bob, newest);
  expect(unread).toMatchObject({ latestConversationSeq: conversationSeq, unreadExact: false });
  expect(unread.unreadCount).toBeGreaterThan(0);
  expect(await lost(senders)).toBeGreaterThanOrEqual(ENOUGH);
  expect(senders.twice).toEqual([]);
  expect(await chat.summary(bob, seq(0) + conversationSeq)).toMatchObject({ unreadExact: true });
});

test('the way to Redis breaks and comes back: the outcome is unknown, and a retry says what became of it', async () => {
  await start({ appendonly: 'always' }, false);
  const senders = new Senders();
  await underLoad(senders, () => pair.use(pair.first));
  expect(await lost(senders)).toBe(0);
  expect(senders.twice).toEqual([]);
});
