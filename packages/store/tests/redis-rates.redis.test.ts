/** Windows on Redis: what is stored, what all processes share, what a full one costs. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRedisStore } from '../src/redis/open.js';
import type { Store } from '../src/store.js';
import { type RawClient, RedisBackend, rawClient } from './redis-backend.js';

let backend: RedisBackend;
let other: Store;
let raw: RawClient;
let roundTrips = 0;

beforeAll(async () => {
  backend = await RedisBackend.open({
    observer: {
      roundTrip: () => {
        roundTrips += 1;
      },
    },
  });
  other = await openRedisStore(backend.url);
  raw = await rawClient(backend.url);
});
afterAll(async () => {
  raw.destroy();
  await other.close();
  await backend.close();
});

test('a window is one key with the names encoded, and expires with the window', async () => {
  await backend.store.rates.take([{ of: ['user', '7', 'al:ice'], count: 5, windowMs: 60_000 }]);
  expect(String(await raw.sendCommand(['GET', 'rate:60:user:7:al%3Aice']))).toBe('1');
  const ttl = Number(await raw.sendCommand(['PTTL', 'rate:60:user:7:al%3Aice']));
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThanOrEqual(60_000);
});

test('two processes count together', async () => {
  const window = { of: ['user', '0', 'shared'], count: 4, windowMs: 60_000 };
  const waits = await Promise.all([backend.store, other].flatMap(({ rates }) => Array.from({ length: 4 }, () => rates.take([window]))));
  expect(waits.filter((wait) => wait === 0)).toHaveLength(4);
});

test('windows of one send are one round trip, and a window that is known to be full is none', async () => {
  const windows = ['user', 'device', 'address', 'tenant'].map((kind) => ({ of: [kind, 'cost'], count: 1, windowMs: 60_000 }));
  const cost = async () => {
    const before = roundTrips;
    const wait = await backend.store.rates.take(windows);
    return [wait > 0, roundTrips - before];
  };
  expect(await cost()).toEqual([false, 1]);
  expect(await cost()).toEqual([true, 1]);
  expect(await cost()).toEqual([true, 0]);
});

test('a key that holds something else fails the call as a store that does not answer', async () => {
  await raw.sendCommand(['SADD', 'rate:60:user:wrong', 'x']);
  await expect(backend.store.rates.take([{ of: ['user', 'wrong'], count: 1, windowMs: 60_000 }])).rejects.toMatchObject({
    code: 'StoreUnavailable',
  });
});
