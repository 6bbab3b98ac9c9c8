/** The bus on a real Redis: what a lost, silent or misused connection does to those who listen. */
import { BUS_PUBLISH_BYTES_AT_ONCE, isQimError, LEGACY_TENANT_ID, parseTenantId, parseUserId, type UserId } from '@qim/proto';
import { createClient } from 'redis';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { BusEvent } from '../src/bus/bus.js';
import { parseAddress } from '../src/redis/address.js';
import { openChannelLink } from '../src/redis/channel-link.js';
import { ChannelListener } from '../src/redis/channel-listener.js';
import { EventChannels } from '../src/redis/event-channels.js';
import { openRedisStore } from '../src/redis/open.js';
import type { Store } from '../src/store.js';
import { type RedisServer, startRedis } from '../src/testing/redis-server.js';

const ALICE = parseUserId('alice');
const T0 = LEGACY_TENANT_ID;
const PARTITIONS = 4;
const channels = new EventChannels(PARTITIONS, 0);
const TIMEOUT_MS = 500;

let redis: RedisServer;
const open: (Store | { close(): Promise<void> })[] = [];
beforeAll(async () => {
  redis = await startRedis();
});
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});
afterAll(() => redis.stop());

async function opened(database = 0): Promise<Store> {
  const store = await openRedisStore(`${redis.url}/${database}`, { partitions: PARTITIONS, commandTimeoutMs: TIMEOUT_MS });
  open.push(store);
  return store;
}

async function rawClient() {
  const client = createClient({ url: redis.url });
  client.on('error', () => {});
  await client.connect();
  open.push({ close: async () => client.destroy() });
  return client;
}

function joined(store: Store, processId: string) {
  const heard: BusEvent[] = [];
  const interrupted: ((tenantId: typeof T0, userId: UserId) => boolean)[] = [];
  const counts = { malformed: 0 };
  const link = store.bus.connect(processId, {
    received: (event) => heard.push(event),
    malformed: () => {
      counts.malformed += 1;
    },
    interrupted: (concerns) => interrupted.push(concerns),
  });
  const texts = () => heard.map(({ payload }) => new TextDecoder().decode(payload));
  return { link, heard, interrupted, counts, texts };
}

const event = (text: string, userId = ALICE): BusEvent => ({ tenantId: T0, userIds: [userId], payload: new TextEncoder().encode(text) });
const turns = async () => {
  for (let n = 0; n < 100; n += 1) await new Promise<void>((resolve) => setImmediate(resolve));
};
const soon = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 60_000, interval: 10 });

/** A user on another channel than Alice's. */
const stranger = Array.from({ length: 100 }, (_, n) => parseUserId(`user-${n}`)).find(
  (userId) => channels.of(T0, userId) !== channels.of(T0, ALICE),
);

describe('a connection that was lost', () => {
  test('is made anew, hears again, and then tells whom it was deaf for', async () => {
    const [here, there] = [joined(await opened(), 'here'), joined(await opened(), 'there')];
    await there.link.subscribe(T0, ALICE);
    const raw = await rawClient();
    await raw.sendCommand(['CLIENT', 'KILL', 'TYPE', 'pubsub']);
    await soon(() => expect(there.interrupted).toHaveLength(1));
    const concerns = there.interrupted[0];
    expect([concerns?.(T0, ALICE), concerns?.(T0, stranger ?? ALICE)]).toEqual([true, false]);
    await here.link.publish([event('after')]);
    await soon(() => expect(there.texts()).toEqual(['after']));
    expect(there.interrupted).toHaveLength(1);
  });

  test('because the server died: a subscription fails, and once the server is back all is as before', async () => {
    const own = await startRedis();
    open.push({ close: () => own.stop() });
    const store = await openRedisStore(own.url, { partitions: PARTITIONS, commandTimeoutMs: TIMEOUT_MS });
    open.unshift(store);
    const there = joined(store, 'there');
    await there.link.subscribe(T0, ALICE);
    await own.kill();
    const refused = await soon(() =>
      there.link.subscribe(T0, ALICE).then(
        () => expect.unreachable('it is gone'),
        (error: unknown) => error,
      ),
    );
    expect(isQimError(refused) && refused.code).toBe('StoreUnavailable');
    await own.restart();
    await soon(() => expect(there.interrupted).toHaveLength(1));
    await there.link.subscribe(T0, ALICE);
    const here = joined(store, 'here');
    await soon(() => here.link.publish([event('after')]));
    await soon(() => expect(there.texts()).toContain('after'));
  });

  test('without a word is noticed by asking', async () => {
    const own = await startRedis();
    open.push({ close: () => own.stop() });
    const interrupted: ReadonlySet<string>[] = [];
    const settings = { address: parseAddress(own.url), name: 'test', timeoutMs: TIMEOUT_MS };
    const listener = new ChannelListener({
      open: (handlers) => openChannelLink(settings, handlers),
      handlers: { message: () => {}, interrupted: (which) => interrupted.push(which) },
      timeoutMs: TIMEOUT_MS,
      pingMs: 20,
    });
    open.unshift({ close: async () => listener.close() });
    await listener.subscribe('events:{c000}:0');
    own.pause();
    // Deaf for longer than the ping and its answer may take.
    await expect(listener.subscribe('events:{c001}:0')).rejects.toThrow();
    own.resume();
    await soon(() => expect(interrupted.map((which) => [...which])).toEqual([['events:{c000}:0']]));
  });
});

test('a subscription is none before the server has confirmed it, and one that is made again waits for that too', async () => {
  const own = await startRedis();
  open.push({ close: () => own.stop() });
  // Patient: it is the test that lets the server go on.
  const store = await openRedisStore(own.url, { partitions: PARTITIONS, commandTimeoutMs: 60_000 });
  open.unshift(store);
  const there = joined(store, 'there');
  await there.link.subscribe(T0, stranger ?? ALICE);
  own.pause();
  let confirmed = 0;
  const waiting = [there.link.subscribe(T0, ALICE), there.link.subscribe(T0, ALICE)].map((each) =>
    each.then(() => {
      confirmed += 1;
    }),
  );
  // The one whose channel is confirmed waits for nothing.
  await there.link.subscribe(T0, stranger ?? ALICE);
  await turns();
  expect(confirmed).toBe(0);
  own.resume();
  await Promise.all(waiting);
  expect(confirmed).toBe(2);
});

test('a channel is listened to while a user of it is here, and no longer', async () => {
  const [one, raw] = [joined(await opened(), 'one'), await rawClient()];
  const listened = () => raw.sendCommand<string[]>(['PUBSUB', 'SHARDCHANNELS', 'events:*']);
  const first = await one.link.subscribe(T0, ALICE);
  const second = await one.link.subscribe(T0, ALICE);
  expect(await listened()).toEqual([channels.of(T0, ALICE)]);
  first();
  await one.link.subscribe(parseTenantId(7), parseUserId('someone'));
  expect(await listened()).toContain(channels.of(T0, ALICE));
  second();
  await soon(async () => expect(await listened()).not.toContain(channels.of(T0, ALICE)));
  for (let n = 0; n < 20; n += 1) {
    const end = await one.link.subscribe(T0, ALICE);
    expect(await listened()).toContain(channels.of(T0, ALICE));
    end();
    const next = await one.link.subscribe(T0, ALICE);
    expect(await listened()).toContain(channels.of(T0, ALICE));
    next();
  }
});

test('what is no event of ours is counted and dropped, and the next one is heard', async () => {
  const [here, there, raw] = [joined(await opened(), 'here'), joined(await opened(), 'there'), await rawClient()];
  await there.link.subscribe(T0, ALICE);
  for (const garbage of ['', 'garbage', '\u0001', 'x'.repeat(1_000_000)]) {
    await raw.sendCommand(['SPUBLISH', channels.of(T0, ALICE), garbage]);
  }
  await here.link.publish([event('good')]);
  await soon(() => expect(there.texts()).toEqual(['good']));
  expect(there.counts.malformed).toBe(4);
});

test('two databases of one server do not hear each other', async () => {
  const [zero, one, witness] = [joined(await opened(0), 'zero'), joined(await opened(1), 'one'), joined(await opened(0), 'witness')];
  for (const { link } of [one, witness]) await link.subscribe(T0, ALICE);
  await zero.link.publish([event('of database 0')]);
  await soon(() => expect(witness.texts()).toEqual(['of database 0']));
  expect(one.texts()).toEqual([]);
});

test('more than goes in one write arrives all the same, in order', async () => {
  const [here, there] = [joined(await opened(), 'here'), joined(await opened(), 'there')];
  await there.link.subscribe(T0, ALICE);
  const payload = new Uint8Array(64 * 1024);
  const count = (2 * BUS_PUBLISH_BYTES_AT_ONCE) / payload.length + 1;
  const events = Array.from({ length: count }, (_, n) => ({ tenantId: T0, userIds: [ALICE], payload: payload.with(0, n) }));
  await here.link.publish(events);
  await soon(() => expect(there.heard).toHaveLength(count));
  expect(there.heard.map((each) => each.payload[0])).toEqual(events.map((each) => each.payload[0]));
});

test('a user of the server who may not use channels cannot publish, and is told so', async () => {
  const raw = await rawClient();
  await raw.sendCommand(['ACL', 'SETUSER', 'qim', 'on', '>secret', '~*', '+@all', 'resetchannels']);
  const store = await openRedisStore(redis.url.replace('//', '//qim:secret@'), { partitions: PARTITIONS, commandTimeoutMs: TIMEOUT_MS });
  open.push(store);
  const { link } = joined(store, 'one');
  await expect(link.publish([event('x')])).rejects.toMatchObject({ code: 'StoreUnavailable', detail: { what: 'NOPERM' } });
  await expect(link.subscribe(T0, ALICE)).rejects.toMatchObject({ code: 'StoreUnavailable' });
});
