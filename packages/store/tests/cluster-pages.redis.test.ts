/** How a store uses the nodes of a Cluster: what is sent where, in how many writes, and over which connections. */
import { SEQ_ZERO, type UserId } from '@qim/proto';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { DEPLOYMENT_KEY, KeySpace, userKeys } from '../src/redis/keys.js';
import { openRedisStore, type RedisStoreOptions } from '../src/redis/open.js';
import type { Store } from '../src/store.js';
import type { CommandLog } from '../src/testing/command-log.js';
import { type Chat, Fixture, refusedWith, TENANT } from '../src/testing/conformance/fixture.js';
import { type RedisCluster, startRedisCluster } from '../src/testing/redis-cluster.js';
import { startRedis } from '../src/testing/redis-server.js';
import { ClusterBackend } from './cluster-backend.js';

const keySpace = new KeySpace(64);
let cluster: RedisCluster;
let backend: ClusterBackend;
let writes: number;
let fixture: Fixture;
let alice: UserId;
let bob: UserId;

beforeAll(async () => {
  cluster = await startRedisCluster({ replicas: 0 });
  backend = await ClusterBackend.on(cluster, { observer: { roundTrip: () => (writes += 1) } });
});
afterAll(async () => {
  await backend.close();
  await cluster.stop();
});
beforeEach(() => {
  fixture = new Fixture(backend);
  [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
  writes = 0;
});

/** So many that each primary has some. */
async function chatsEverywhere(count = 24): Promise<Chat[]> {
  const chats = Array.from({ length: count }, () => fixture.direct(alice, bob));
  await Promise.all(chats.map((chat) => chat.sayTimes(alice, 2)));
  return chats;
}

/** Whose calls fail soon. Opening is a matter of many calls, and tried until it is done. */
function openImpatient(): Promise<Store> {
  return vi.waitFor(() => openRedisStore(cluster.url, { commandTimeoutMs: 400 }), { timeout: 50_000, interval: 50 });
}

describe('a page', () => {
  let logs: CommandLog[];
  beforeEach(async () => {
    logs = await Promise.all(cluster.primaries.map((node) => node.commandLog()));
    return () => {
      for (const log of logs) log.close();
    };
  });

  test('is two writes to each primary, and none sends a record before all indexes were read', async () => {
    const chats = await chatsEverywhere();
    for (const log of logs) await log.clear();
    writes = 0;
    const readings = await backend.store.messages.readConversations(
      TENANT,
      bob,
      chats.map(({ conversationId }) => ({ conversationId, watermark: SEQ_ZERO })),
    );
    expect(readings.map((one) => (one.kind === 'sound' ? one.summary.unreadCount : one.error))).toEqual(chats.map(() => 2));
    expect(writes).toBe(2 * cluster.primaries.length);
    let commands = 0;
    for (const log of logs) {
      const sent = (await log.read()).filter(({ args }) => args[0]?.startsWith('msg'));
      const rounds = sent.map(({ args }) => (args[0]?.startsWith('msgrecord:') ? 2 : 1));
      expect(rounds).toEqual(rounds.toSorted());
      expect(new Set(rounds)).toEqual(new Set([1, 2]));
      commands += sent.length;
    }
    // Facts, newest, window, member, and one bucket of records.
    expect(commands).toBe(5 * chats.length);
  });

  test('of one conversation asks one primary alone', async () => {
    const chat = fixture.direct(alice, bob);
    await chat.say(alice);
    for (const log of logs) await log.clear();
    writes = 0;
    expect(await chat.unread(bob)).toEqual([1, true]);
    expect(writes).toBe(2);
    const asked = (await Promise.all(logs.map((log) => log.read()))).filter((sent) => sent.length > 0);
    expect(asked).toHaveLength(1);
  });

  test('of which one primary answers nothing is no page', async () => {
    const chats = await chatsEverywhere();
    const [silent] = cluster.primaries;
    const impatient = await openImpatient();
    const states = chats.map(({ conversationId }) => ({ conversationId, watermark: SEQ_ZERO }));
    silent?.pause();
    try {
      await refusedWith(impatient.messages.readConversations(TENANT, bob, states), 'StoreUnavailable');
    } finally {
      silent?.resume();
    }
    await vi.waitFor(async () => expect(await impatient.messages.readConversations(TENANT, bob, states)).toHaveLength(chats.length), {
      timeout: 60_000,
      interval: 50,
    });
    await impatient.close();
  });
});

describe('keys', () => {
  test('of a commit, of an outbox and of a user lie in one slot each, under the forms of the single Redis', async () => {
    const chat = fixture.direct(alice, bob);
    await chat.say(alice, 'x'.repeat(3_000));
    await backend.store.directory.join(TENANT, chat.conversationId, [{ userId: bob, joinedSeq: SEQ_ZERO, visibleFrom: SEQ_ZERO }], {
      conversationSeq: SEQ_ZERO,
      activityAtMs: 1,
    });
    const keys = keySpace.conversation(TENANT, chat.conversationId);
    const own = [keys.facts, keys.members, keys.history, keys.records(0), keys.bodies(0), keys.outbox];
    const { view, conversations } = userKeys(TENANT, bob);
    for (const group of [own, [view, conversations]]) {
      const [owner] = await Promise.all(group.map((key) => cluster.ownerOf(key)));
      if (owner === undefined) throw new Error('a key has an owner');
      const slots = await Promise.all(group.map((key) => cluster.command(owner, 'CLUSTER', 'KEYSLOT', key)));
      expect(new Set(slots).size).toBe(1);
      expect(await cluster.command(owner, 'EXISTS', ...group)).toBe(group.length);
    }
  });

  test('of the partitions are spread over the primaries', async () => {
    const owners = await Promise.all(keySpace.allOutboxes().map((outbox) => cluster.ownerOf(outbox)));
    for (const node of cluster.primaries) expect(owners.filter((owner) => owner === node).length).toBeGreaterThanOrEqual(21);
  });
});

describe('the outbox', () => {
  test('waits on one connection for each partition that is owned, and on none once it is given back', async () => {
    const { outbox } = backend.store;
    const waiting = async (): Promise<number> => {
      const lists = await Promise.all(cluster.primaries.map((node) => cluster.command(node, 'CLIENT', 'LIST')));
      return lists.join('\n').split('name=qim-outbox').length - 1;
    };
    const before = await waiting();
    const held = await Promise.all([0, 20, 40].map((partition) => outbox.acquire(partition, 'test', 60_000)));
    const leases = held.filter((lease) => lease !== undefined);
    for (;;) {
      // What other tests have sent.
      const { entries } = await outbox.read(leases, 0, new AbortController().signal);
      if (entries.length === 0) break;
      for (const lease of leases) {
        const own = entries.filter(({ partition }) => partition === lease.partition);
        await outbox.acknowledge(
          lease,
          own.map(({ entryId }) => entryId),
        );
      }
    }
    const stop = new AbortController();
    const reading = outbox.read(leases, 30_000, stop.signal);
    await vi.waitFor(async () => expect((await waiting()) - before).toBe(3), { timeout: 60_000, interval: 20 });
    stop.abort();
    expect(await reading).toEqual({ entries: [], poison: [] });
    for (const lease of leases) await outbox.release(lease);
    await vi.waitFor(async () => expect((await waiting()) - before).toBe(0), { timeout: 60_000, interval: 20 });
  });
});

describe('a node that does not take a command now', () => {
  const chat = () => fixture.direct(alice, bob);
  const ownerOf = (of: Chat) => cluster.ownerOf(keySpace.conversation(TENANT, of.conversationId).facts);

  test('because its memory is full gets it again once there is room', async () => {
    const full = chat();
    const owner = await ownerOf(full);
    await cluster.command(owner, 'CONFIG', 'SET', 'maxmemory', '1');
    const log = await owner.commandLog();
    const saying = full.say(alice);
    // It was asked more than once.
    await vi.waitFor(() => expect(log.received().filter(({ name }) => name === 'EVALSHA').length).toBeGreaterThanOrEqual(2), {
      timeout: 60_000,
      interval: 5,
    });
    await cluster.command(owner, 'CONFIG', 'SET', 'maxmemory', '0');
    expect(await saying).toMatchObject({ conversationSeq: 1, duplicate: false });
    log.close();
  });

  test('and will not for long ends in StoreUnavailable with that reason, and nothing is written', async () => {
    const impatient = await openImpatient();
    const full = chat();
    const owner = await ownerOf(full);
    await cluster.command(owner, 'CONFIG', 'SET', 'maxmemory', '1');
    const request = full.request(alice);
    try {
      await expect(impatient.messages.commit(request)).rejects.toMatchObject({ code: 'StoreUnavailable', detail: { what: 'OOM' } });
    } finally {
      await cluster.command(owner, 'CONFIG', 'SET', 'maxmemory', '0');
    }
    expect(await impatient.messages.commit(request)).toMatchObject({ conversationSeq: 1, duplicate: false });
    await impatient.close();
  });

  test('because it forgot the scripts gets their text', async () => {
    const chats = await chatsEverywhere();
    await Promise.all(cluster.primaries.map((node) => cluster.command(node, 'SCRIPT', 'FLUSH')));
    const sent = await Promise.all(chats.map((one) => one.say(bob)));
    expect(sent.map(({ conversationSeq }) => conversationSeq)).toEqual(chats.map(() => 3));
  });
});

describe('opening', () => {
  const opened: Store[] = [];
  const open = async (url: string, options: RedisStoreOptions = {}): Promise<Store> => {
    const store = await openRedisStore(url, options);
    opened.push(store);
    return store;
  };
  beforeEach(() => async () => {
    for (const store of opened.splice(0)) await store.close();
  });

  test('one node is enough to find the others, and the number of partitions is that of the deployment', async () => {
    const [first] = cluster.primaries;
    const store = await open(`redis+cluster://127.0.0.1:1,127.0.0.1:${first?.port}`);
    expect(store.description).toMatch(/^(redis|valkey) \d+\.\d+\.\d+ at 127\.0\.0\.1:1,127\.0\.0\.1:\d+$/);
    const chats = await chatsEverywhere(6);
    const states = chats.map(({ conversationId }) => ({ conversationId, watermark: SEQ_ZERO }));
    expect((await store.messages.readConversations(TENANT, bob, states)).map(({ kind }) => kind)).toEqual(states.map(() => 'sound'));
    await refusedWith(open(cluster.url, { partitions: 8 }), 'InvalidArgument');
    const owner = await cluster.ownerOf(DEPLOYMENT_KEY);
    expect(await cluster.command(owner, 'HGET', DEPLOYMENT_KEY, 'partitions')).toBe('64');
  });

  test('a user of the access list with a password from elsewhere reaches every node, and neither is shown', async () => {
    const rule = ['ACL', 'SETUSER', 'qim', 'on', '>s3cret', '~*', '&*', '+@all'];
    await Promise.all(cluster.primaries.map((node) => cluster.command(node, ...rule)));
    const store = await open(cluster.url.replace('//', '//qim@'), { password: 's3cret' });
    await store.ping();
    expect(store.description).not.toMatch(/qim@|s3cret/);
    const lists = await Promise.all(cluster.primaries.map((node) => cluster.command(node, 'CLIENT', 'LIST')));
    for (const list of lists) expect(list).toContain('user=qim');
    await refusedWith(open(cluster.url.replace('//', '//qim:wrong@')), 'StoreUnavailable');
  });

  test('a Cluster is not taken for a single Redis, nor the other way round', async () => {
    const [first] = cluster.primaries;
    await expect(open(first?.url ?? '')).rejects.toThrow('write redis+cluster://');
    const single = await startRedis();
    await refusedWith(open(single.url.replace('redis:', 'redis+cluster:')), 'StoreUnavailable');
    await single.stop();
  });

  test('an acknowledgement is worth what the worst of the primaries makes it', async () => {
    const [first, ...others] = cluster.primaries;
    expect((await open(cluster.url)).ackDurability).toBe('memory');
    for (const node of cluster.primaries) await cluster.command(node, 'CONFIG', 'SET', 'appendonly', 'yes');
    for (const node of others) await cluster.command(node, 'CONFIG', 'SET', 'appendfsync', 'always');
    expect((await open(cluster.url)).ackDurability).toBe('everysec');
    if (first !== undefined) await cluster.command(first, 'CONFIG', 'SET', 'appendfsync', 'always');
    expect((await open(cluster.url, { requireDurable: true })).ackDurability).toBe('synced');
    if (first !== undefined) await cluster.command(first, 'CONFIG', 'SET', 'appendonly', 'no');
    await refusedWith(open(cluster.url, { requireDurable: true }), 'InvalidArgument');
  });

  test('one that evicts is refused', async () => {
    const [, , last] = cluster.primaries;
    if (last === undefined) throw new Error('there are three');
    await cluster.command(last, 'CONFIG', 'SET', 'maxmemory', '100mb');
    await cluster.command(last, 'CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    await expect(open(cluster.url)).rejects.toThrow('never evicts');
    await cluster.command(last, 'CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
  });
});
