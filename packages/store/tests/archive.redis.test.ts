/** The move of stores from, to and between Redis and a Redis Cluster. */
import { afterAll, expect, test } from 'vitest';
import { startRedisCluster } from '../src/testing/redis-cluster.js';
import { startRedis } from '../src/testing/redis-server.js';
import { embeddedPlace, exported, fill, imported, linesIn, ownRedis, type Place, redisPlace } from './archive-harness.js';
import { moveSuite } from './archive-suite.js';
import { rawClient } from './redis-backend.js';

moveSuite({ name: 'embedded to Redis', from: async () => embeddedPlace(), to: ownRedis });
moveSuite({ name: 'Redis to embedded', from: ownRedis, to: async () => embeddedPlace() });

const stops: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function redis() {
  const place = await ownRedis();
  stops.push(place.close);
  return place;
}

test('embedded, Redis, Cluster and back: what comes home is what left', async () => {
  const cluster = await startRedisCluster({ replicas: 0 });
  stops.push(() => cluster.stop());
  const [first, last] = [embeddedPlace(), embeddedPlace()];
  stops.push(first.close, last.close);
  await fill(first, 2);
  const lines = await linesIn(await exported(first));
  let from: Place = first;
  for (const to of [await redis(), redisPlace(cluster.url, async () => {}), last]) {
    await imported(to, await exported(from));
    from = to;
  }
  expect(await linesIn(await exported(last))).toEqual(lines);
});

test('an export of a Redis is refused while a server lives, and fails when something was committed meanwhile', async () => {
  const place = await redis();
  await fill(place);
  const store = await place.store();
  await store.outbox.announceOwner('a server', 60_000);
  await expect(place.source()).rejects.toMatchObject({ code: 'StoreInUse' });
  await store.outbox.withdrawOwner('a server');
  await store.close();
  let done = false;
  const meanwhile = exported(place, undefined, async () => {
    if (!done) await fill(place);
    done = true;
  });
  await expect(meanwhile).rejects.toMatchObject({ code: 'StoreInUse' });
});

test('an import does not go on after a Redis server was restarted: what it had may be lost', async () => {
  const source = embeddedPlace();
  stops.push(source.close);
  await fill(source, 2);
  const bytes = await exported(source);
  const server = await startRedis({ appendonly: 'always' });
  stops.push(() => server.stop());
  const target = redisPlace(server.url, async () => {});
  const broken = () => ({ apply: () => Promise.reject(new Error('the power went')) });
  await expect(imported(target, bytes, broken)).rejects.toThrow('the power went');
  await server.kill();
  await server.restart();
  await expect(imported(target, bytes)).rejects.toMatchObject({ code: 'StoreNotEmpty', message: expect.stringContaining('restarted') });
});

test("another application's keys make a Redis not empty", async () => {
  const source = embeddedPlace();
  stops.push(source.close);
  await fill(source);
  const server = await startRedis();
  stops.push(() => server.stop());
  const raw = await rawClient(server.url);
  await raw.sendCommand(['SET', 'something', 'else']);
  raw.destroy();
  await expect(
    imported(
      redisPlace(server.url, async () => {}),
      await exported(source),
    ),
  ).rejects.toMatchObject({ code: 'StoreNotEmpty' });
});

test('after a move the webhook is told what waited for it, then what is committed', async () => {
  const source = embeddedPlace();
  stops.push(source.close);
  await fill(source);
  const target = await redis();
  await imported(target, await exported(source));
  const store = await target.store();
  const told: string[] = [];
  for (let partition = 0; partition < store.outbox.partitionCount; partition += 1) {
    const waiting = (await store.hooks.read(partition, undefined, 100)).jobs;
    if (waiting.length === 0) continue;
    const lease = await store.outbox.acquire(partition, 'a webhook', 60_000);
    if (lease === undefined) throw new Error('nobody else has it');
    const { entries } = await store.outbox.read([lease], 0, new AbortController().signal);
    await store.hooks.append(lease, entries, 1_000);
    const { jobs } = await store.hooks.read(partition, undefined, 1_000);
    expect(jobs).toHaveLength(waiting.length + entries.length);
    told.push(...waiting.map(({ kind }) => kind));
  }
  expect(told).toEqual(['created']);
  await store.close();
});
