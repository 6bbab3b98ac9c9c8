/** The outbox streams where they differ from a list in memory: pending entries, lost replies, former owners, garbage. */
import { OUTBOX_BATCH_MAX } from '@qim/proto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Outbox, OutboxLease } from '../src/outbox/outbox.js';
import { KeySpace } from '../src/redis/keys.js';
import { openRedisStore } from '../src/redis/open.js';
import type { Store } from '../src/store.js';
import { type Chat, Fixture, refusedWith } from '../src/testing/conformance/fixture.js';
import { type RawClient, RedisBackend, rawClient } from './redis-backend.js';

const LONG_MS = 600_000;
const NEVER = new AbortController().signal;
const { outbox: stream, lease: leaseKey, poison: poisonKey } = new KeySpace(1).outbox(0);

let backend: RedisBackend;
let raw: RawClient;
let outbox: Outbox;
let chat: Chat;
let say: () => Promise<unknown>;

beforeEach(async () => {
  backend = await RedisBackend.open({ partitions: 1 });
  raw = await rawClient(backend.server.url);
  outbox = backend.store.outbox;
  const fixture = new Fixture(backend);
  const alice = fixture.user('alice');
  chat = fixture.direct(alice, fixture.user('bob'));
  say = () => chat.say(alice);
});

afterEach(async () => {
  raw.destroy();
  await backend.close();
});

async function acquire(owner: string, from: Outbox = outbox): Promise<OutboxLease> {
  const lease = await from.acquire(0, owner, LONG_MS);
  if (lease === undefined) throw new Error('the partition is held by another');
  return lease;
}

async function sequences(lease: OutboxLease, from: Outbox = outbox, waitMs = 0): Promise<number[]> {
  const { entries } = await from.read([lease], waitMs, NEVER);
  return entries.map(({ conversationSeq }) => conversationSeq);
}

/** What a read does whose reply nobody gets. */
async function readElsewhere(): Promise<void> {
  await raw.sendCommand(['XREADGROUP', 'GROUP', 'push', 'qim', 'STREAMS', stream, '>']);
}

/** Id of the connection that waits in XREADGROUP. */
async function waitingRead(): Promise<number> {
  return vi.waitFor(
    async () => {
      const clients = (await raw.sendCommand<Buffer>(['CLIENT', 'LIST'])).toString().split('\n');
      const waiting = clients.find((line) => line.includes('name=qim-outbox') && /cmd=xreadgroup/.test(line) && / flags=b/.test(line));
      expect(waiting).toBeDefined();
      return Number(/id=(\d+)/.exec(waiting ?? '')?.[1]);
    },
    { timeout: 60_000, interval: 5 },
  );
}

describe('an entry that was counted as delivered and not handed out', () => {
  test('is found by an idle read, and those in hand are not given again', async () => {
    const lease = await acquire('owner');
    await say();
    expect(await sequences(lease)).toEqual([1]);
    await say();
    await readElsewhere();
    await say();
    expect(await sequences(lease)).toEqual([3]);
    expect(await sequences(lease, outbox, 10)).toEqual([2]);
    expect(await sequences(lease)).toEqual([]);
  });

  test('is found after the connection was lost in a read', async () => {
    const lease = await acquire('owner');
    await say();
    expect(await sequences(lease)).toEqual([1]);
    const lost = refusedWith(outbox.read([lease], LONG_MS, NEVER), 'StoreUnavailable');
    await waitingRead();
    await raw.sendCommand(['CLIENT', 'KILL', 'ID', String(await waitingRead())]);
    await lost;
    await say();
    await readElsewhere();
    await vi.waitFor(async () => expect(await sequences(lease)).toEqual([2]), { timeout: 60_000, interval: 20 });
  });
});

describe('owners', () => {
  let other: Store;
  beforeEach(async () => {
    other = await openRedisStore(backend.server.url);
  });
  afterEach(() => other.close());

  test('a former owner that reads once more is given nothing, and the new one misses nothing', async () => {
    const old = await acquire('old');
    expect(await sequences(old)).toEqual([]);
    await outbox.release(old);
    const taken = await acquire('new', other.outbox);
    expect(await sequences(taken, other.outbox)).toEqual([]);
    await say();
    expect(await sequences(old)).toEqual([]);
    await say();
    expect(await sequences(taken, other.outbox)).toEqual([2]);
    expect(await sequences(taken, other.outbox)).toEqual([1]);
  });

  test('an owner whose lease is taken while it waits is given nothing of what comes', async () => {
    const old = await acquire('old');
    const waiting = outbox.read([old], LONG_MS, NEVER);
    await vi.waitFor(async () => expect(await raw.sendCommand(['XINFO', 'CONSUMERS', stream, 'push'])).toHaveLength(1), { interval: 5 });
    await outbox.release(old);
    const taken = await acquire('new', other.outbox);
    expect(await sequences(taken, other.outbox)).toEqual([]);
    await say();
    expect((await waiting).entries).toEqual([]);
    expect(await sequences(taken, other.outbox)).toEqual([1]);
  });

  test('a lease that runs out is lost even when nobody took it', async () => {
    const lease = await acquire('owner');
    await say();
    expect(await sequences(lease)).toEqual([1]);
    backend.advance(LONG_MS);
    expect(await outbox.renew(lease, LONG_MS)).toBe(false);
    expect(await outbox.acknowledge(lease, ['1-1'])).toBe(false);
    expect(await sequences(lease)).toEqual([]);
    const again = await acquire('owner');
    expect(again.token).toBeGreaterThan(lease.token);
    expect(await sequences(again)).toEqual([1]);
  });

  test('the token goes on rising after the lease was given back, also when the clock was set back', async () => {
    const tokens: number[] = [];
    for (const owner of ['a', 'b', 'a']) {
      const lease = await acquire(owner);
      tokens.push(lease.token);
      await outbox.release(lease);
      backend.advance(-LONG_MS);
    }
    const [first = 0] = tokens;
    expect(tokens).toEqual([first, first + 1, first + 2]);
  });

  test('the token does not come again after a failover that lost the change of owner', async () => {
    await outbox.release(await acquire('before'));
    const replica = await raw.sendCommand<Buffer>(['DUMP', leaseKey]);
    const lost = await acquire('lost');
    await say();
    const entry = String((await raw.sendCommand<[Buffer][]>(['XRANGE', stream, '-', '+']))[0]?.[0]);
    await raw.sendCommand(['RESTORE', leaseKey, '0', replica, 'REPLACE']);
    backend.advance(1);
    const lease = await acquire('new');
    expect(lease.token).toBeGreaterThan(lost.token);
    expect(await outbox.renew(lost, LONG_MS)).toBe(false);
    expect(await outbox.acknowledge(lost, [entry])).toBe(false);
    expect(await sequences(lease)).toEqual([1]);
  });
});

test('a batch has at most OUTBOX_BATCH_MAX entries, and pending ones come before newer ones', async () => {
  const old = await acquire('old');
  await Promise.all(Array.from({ length: OUTBOX_BATCH_MAX + 40 }, () => say()));
  expect(await sequences(old)).toHaveLength(OUTBOX_BATCH_MAX);
  expect(await sequences(old)).toHaveLength(40);
  await outbox.release(old);
  await say();
  const lease = await acquire('new');
  const all = [await sequences(lease), await sequences(lease), await sequences(lease), await sequences(lease)];
  expect(all.map((batch) => batch.length)).toEqual([OUTBOX_BATCH_MAX, 40, 1, 0]);
  expect(all.flat()).toEqual(Array.from({ length: OUTBOX_BATCH_MAX + 41 }, (_, i) => i + 1));
});

describe('an entry that cannot be understood', () => {
  const garbage: readonly (readonly [string, readonly string[]])[] = [
    ['unknown kind', ['k', 'renamed', 't', '7', 'c', 'g_1', 's', '1']],
    ['malformed ids', ['k', 'committed', 't', '7', 'c', 'no such id', 's', '1']],
    ['malformed ids', ['k', 'committed', 't', '7', 'c', 'g_1', 's', '-1']],
    ['malformed ids', ['k', 'committed', 't', '', 'c', 'g_1', 's', '1']],
    ['unknown kind', ['something', 'else']],
  ];

  test('is told with its reason, and does not hold up what comes after it', async () => {
    const lease = await acquire('owner');
    for (const [, fields] of garbage) await raw.sendCommand(['XADD', stream, '*', ...fields]);
    await say();
    const { entries, poison } = await outbox.read([lease], 0, NEVER);
    expect(entries.map(({ conversationSeq }) => conversationSeq)).toEqual([1]);
    expect(poison.map(({ reason }) => reason)).toEqual(garbage.map(([reason]) => reason));
    for (const { entryId, reason } of poison) expect(await outbox.setAside(lease, entryId, reason)).toBe(true);
    expect(await outbox.backlog()).toMatchObject({ entries: 1, poison: garbage.length });
    const aside = await outbox.poison(garbage.length + 1);
    expect(aside.map(({ reason, about }) => [reason, about])).toEqual(garbage.map(([reason]) => [reason, undefined]).reverse());
    expect(aside.map(({ entryId }) => entryId)).toEqual(poison.map(({ entryId }) => entryId).reverse());
    const [first = []] = await raw.sendCommand<[Buffer, Buffer[]][]>(['XRANGE', poisonKey, '-', '+']);
    expect(first[1]?.map(String)).toEqual(['entryId', poison[0]?.entryId, 'reason', 'unknown kind', ...(garbage[0]?.[1] ?? [])]);
  });

  test('that was removed while it was pending is told too', async () => {
    const old = await acquire('old');
    await say();
    const { entries } = await outbox.read([old], 0, NEVER);
    await raw.sendCommand(['XDEL', stream, entries[0]?.entryId ?? '']);
    await outbox.release(old);
    const lease = await acquire('new');
    const { poison } = await outbox.read([lease], 0, NEVER);
    expect(poison).toHaveLength(1);
    expect(await outbox.setAside(lease, poison[0]?.entryId ?? '', 'gone')).toBe(true);
    expect(await raw.sendCommand(['XPENDING', stream, 'push'])).toEqual([0, null, null, null]);
  });
});

test('a group that is gone is made again, and nothing is passed over', async () => {
  const lease = await acquire('owner');
  await say();
  await raw.sendCommand(['XGROUP', 'DESTROY', stream, 'push']);
  expect(await sequences(lease, outbox, 10)).toEqual([1]);
});

test("the backlog tells how long the oldest has waited, by the server's clock", async () => {
  await raw.sendCommand(['XADD', stream, `${Date.now() - 60_000}-0`, 'k', 'committed', 't', '7', 'c', 'g_1', 's', '1']);
  const { entries, oldestMs } = await outbox.backlog();
  expect(entries).toBe(1);
  expect(oldestMs).toBeGreaterThan(58_000);
  expect(oldestMs).toBeLessThan(120_000);
});

test.each([
  ['lease', leaseKey],
  ['stream', stream],
])('a %s of a wrong type is StoreUnavailable', async (_, key) => {
  const lease = await acquire('owner');
  await raw.sendCommand(['SET', key, 'a string']);
  await refusedWith(outbox.read([lease], 0, NEVER), 'StoreUnavailable');
  await refusedWith(outbox.acknowledge(lease, ['1-1']), 'StoreUnavailable');
});

test('a read that waits ends at once with its signal, and the next one gets what comes', async () => {
  const lease = await acquire('owner');
  const stop = new AbortController();
  const reading = outbox.read([lease], LONG_MS, stop.signal);
  await waitingRead();
  stop.abort();
  expect(await reading).toEqual({ entries: [], poison: [] });
  const next = sequences(lease, outbox, LONG_MS);
  await waitingRead();
  await say();
  expect(await next).toEqual([1]);
});

test('closing the store ends a read that waits', async () => {
  const lease = await acquire('owner');
  const reading = outbox.read([lease], LONG_MS, NEVER);
  await vi.waitFor(async () => expect(await raw.sendCommand(['XINFO', 'CONSUMERS', stream, 'push'])).toHaveLength(1), { interval: 5 });
  await Promise.all([refusedWith(reading, 'StoreUnavailable'), backend.store.close()]);
});
