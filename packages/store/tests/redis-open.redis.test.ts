import { createServer, type Socket } from 'node:net';
import { isQimError, SEQ_ZERO, STORE_COMMANDS_WAITING_MAX } from '@qim/proto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { parseAddress } from '../src/redis/address.js';
import type { Command } from '../src/redis/connection.js';
import { DEPLOYMENT_KEY, KeySpace } from '../src/redis/keys.js';
import { NodeConnection } from '../src/redis/node-connection.js';
import { openRedisStore, type RedisStoreOptions } from '../src/redis/open.js';
import type { Store } from '../src/store.js';
import { Fixture, refusedWith, TENANT } from '../src/testing/conformance/fixture.js';
import { type RedisServer, type RedisServerOptions, startRedis } from '../src/testing/redis-server.js';
import { type RawClient, rawClient } from './redis-backend.js';
import { RedisProxy } from './redis-proxy.js';

let server: RedisServer;
const opened: { close(): Promise<void> }[] = [];

async function start(options: RedisServerOptions = {}): Promise<void> {
  server = await startRedis(options);
  opened.push({ close: () => server.stop() });
}

async function open(options: RedisStoreOptions = {}, url = server.url): Promise<Store> {
  const store = await openRedisStore(url, options);
  opened.push(store);
  return store;
}

async function raw(url = server.url): Promise<RawClient> {
  const client = await rawClient(url);
  opened.push({ close: async () => client.destroy() });
  return client;
}

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

/** What a refusal tells a person. */
async function refusal(options: RedisStoreOptions = {}): Promise<string> {
  const error: unknown = await open(options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isQimError(error)) throw new Error('it was not refused', { cause: error });
  expect(error.code).toBe('InvalidArgument');
  return error.message;
}

describe('what an acknowledgement is worth', () => {
  test.each([
    ['no', 'memory'],
    ['everysec', 'everysec'],
    ['always', 'synced'],
  ] as const)('appendonly %s: %s', async (appendonly, worth) => {
    await start({ appendonly });
    expect((await open()).ackDurability).toBe(worth);
  });

  test('a server that leaves flushing to the system promises nothing', async () => {
    await start({ appendonly: 'everysec', args: ['--appendfsync', 'no'] });
    expect((await open()).ackDurability).toBe('memory');
  });

  test('a server that does not flush while it rewrites promises nothing', async () => {
    await start({ appendonly: 'always', args: ['--no-appendfsync-on-rewrite', 'yes'] });
    expect((await open()).ackDurability).toBe('memory');
  });

  test('a server that hides its configuration promises nothing', async () => {
    await start({ appendonly: 'always', args: ['--rename-command', 'CONFIG', ''] });
    expect((await open()).ackDurability).toBe('memory');
  });

  test('requireDurable refuses memory, and nothing better', async () => {
    await start();
    expect(await refusal({ requireDurable: true })).toContain('appendonly yes');
    const client = await raw();
    await client.sendCommand(['CONFIG', 'SET', 'appendonly', 'yes']);
    expect((await open({ requireDurable: true })).ackDurability).toBe('everysec');
  });
});

describe('a server that must not be used is refused, with what to change', () => {
  test.each(['allkeys-lru', 'volatile-ttl'])('one that evicts (%s)', async (policy) => {
    await start({ args: ['--maxmemory', '100mb', '--maxmemory-policy', policy] });
    expect(await refusal()).toBe(`store must be a Redis that never evicts: set maxmemory-policy to noeviction (it is ${policy})`);
  });

  test('a bound on memory without eviction is fine', async () => {
    await start({ args: ['--maxmemory', '100mb', '--maxmemory-policy', 'noeviction'] });
    await (await open()).ping();
  });

  test('a replica', async () => {
    await start({ args: ['--replicaof', '127.0.0.1', '1'] });
    expect(await refusal()).toContain('a primary');
  });

  test('a node of a Cluster', async () => {
    await start({ args: ['--cluster-enabled', 'yes'] });
    expect(await refusal()).toContain('Cluster');
  });
});

describe('a deployment', () => {
  beforeEach(() => start());

  test('is made once, with 64 partitions and a consumer group for each, and found again', async () => {
    const first = await open();
    expect(first.outbox.partitionCount).toBe(64);
    const client = await raw();
    const made = await client.sendCommand<Buffer[]>(['HGETALL', DEPLOYMENT_KEY]);
    expect(made.map(String).filter((_, i) => i % 2 === 0)).toEqual(['partitions', 'format', 'createdAtMs', 'notedAtMs']);
    for (const outbox of new KeySpace(64).allOutboxes()) expect(await client.sendCommand(['XINFO', 'GROUPS', outbox])).toHaveLength(1);
    await first.close();
    expect((await open()).outbox.partitionCount).toBe(64);
    expect(await client.sendCommand<Buffer[]>(['HGETALL', DEPLOYMENT_KEY])).toEqual(made);
  });

  test('is one and the same for servers that start at once', async () => {
    const counts = [8, 8, undefined, 8].map((partitions) => open(partitions === undefined ? {} : { partitions }));
    const stores = await Promise.allSettled(counts);
    const found = stores.flatMap((store) => (store.status === 'fulfilled' ? [store.value.outbox.partitionCount] : []));
    expect(new Set(found).size).toBe(1);
  });

  test('keeps the number of partitions that it was made with', async () => {
    expect((await open({ partitions: 3 })).outbox.partitionCount).toBe(3);
    expect((await open()).outbox.partitionCount).toBe(3);
    expect(await refusal({ partitions: 4 })).toBe('store must be made with 4 commit partitions; it has 3, and they are fixed');
  });

  test.each([0, 1.5, 1025])('is not made with %d partitions', async (partitions) => {
    expect(await refusal({ partitions })).toBe('partitions must be 1..1024');
    expect(await (await raw()).sendCommand(['EXISTS', DEPLOYMENT_KEY])).toBe(0);
  });

  test('of a newer format is refused, and left as it is', async () => {
    const client = await raw();
    await client.sendCommand(['HSET', DEPLOYMENT_KEY, 'partitions', '64', 'format', '2']);
    expect(await refusal()).toContain('it is 2, written by a newer qim');
    expect(await client.sendCommand(['HLEN', DEPLOYMENT_KEY])).toBe(2);
  });

  test.each([
    ['of another type', ['SET', DEPLOYMENT_KEY, 'mine']],
    ['without partitions', ['HSET', DEPLOYMENT_KEY, 'format', '1']],
    ['without a format', ['HSET', DEPLOYMENT_KEY, 'partitions', '64']],
    ['with partitions that are no number', ['HSET', DEPLOYMENT_KEY, 'format', '1', 'partitions', 'many']],
  ] as const)('key %s is refused', async (_, command) => {
    await (await raw()).sendCommand([...command]);
    expect(await refusal()).toContain(DEPLOYMENT_KEY);
  });
});

describe('the address', () => {
  test.each([
    'http://127.0.0.1',
    'redis://',
    'redis:',
    'redis://host/db',
    'no address',
    'redis://a,b',
    'redis://a:65536',
    'redis://:secret@:1',
    'redis://:secret%@a',
    'redis+cluster://a,b/3',
    'redis+cluster://:secret@a,b:0',
    'redis+cluster://:secret@a,,b',
  ])('%s is refused, and not repeated', async (url) => {
    const error: unknown = await openRedisStore(url).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'InvalidArgument', detail: { field: 'store' } });
    expect(JSON.stringify(error) + String(error)).not.toContain('secret');
  });

  test('takes the password from elsewhere, and not from two places', async () => {
    await start({ args: ['--requirepass', 'p@ss/word'] });
    await (await open({ password: 'p@ss/word' })).ping();
    const twice = server.url.replace('//', '//:secret@');
    await refusedWith(openRedisStore(twice, { password: 'p@ss/word' }), 'InvalidArgument');
  });

  test('may name user, password and database, and the password is never shown', async () => {
    await start({ args: ['--requirepass', 'p@ss/word'] });
    const url = `redis://default:${encodeURIComponent('p@ss/word')}@127.0.0.1:${server.port}/3`;
    const store = await open({}, url);
    expect(store.description).toMatch(new RegExp(`^(redis|valkey) \\d+\\.\\d+\\.\\d+ at 127\\.0\\.0\\.1:${server.port}/3$`));
    const client = await raw(url);
    expect(await client.sendCommand(['EXISTS', DEPLOYMENT_KEY])).toBe(1);
    await client.sendCommand(['SELECT', '0']);
    expect(await client.sendCommand(['EXISTS', DEPLOYMENT_KEY])).toBe(0);
    for (const wrong of [server.url, `redis://:wrong-secret@127.0.0.1:${server.port}`]) {
      const error = (await openRedisStore(wrong).catch((thrown: unknown) => thrown)) as Error;
      expect(error).toMatchObject({ code: 'StoreUnavailable' });
      expect(`${error.message} ${String(error.cause)}`).not.toContain('secret');
    }
  });

  test('of nobody is StoreUnavailable, at once', async () => {
    await start();
    await server.kill();
    await refusedWith(openRedisStore(server.url), 'StoreUnavailable');
    await refusedWith(openRedisStore(server.url.replace('redis:', 'rediss:')), 'StoreUnavailable');
  });
});

describe('a server that fails', () => {
  const options = { commandTimeoutMs: 300 };
  let store: Store;
  beforeEach(async () => {
    await start({ appendonly: 'always' });
    store = await open(options);
  });

  test('by silence gives StoreUnavailable after the time that was set, and is used again when it is back', async () => {
    const fixture = new Fixture({ store, advance() {}, skipSequences: never, close: never });
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = fixture.direct(alice, bob);
    await chat.say(alice);
    server.pause();
    await Promise.all([
      refusedWith(chat.say(alice), 'StoreUnavailable'),
      refusedWith(chat.summary(bob), 'StoreUnavailable'),
      refusedWith(store.directory.page(TENANT, bob, 10, undefined), 'StoreUnavailable'),
      refusedWith(store.ping(), 'StoreUnavailable'),
    ]);
    server.resume();
    await vi.waitFor(() => store.ping(), { timeout: 60_000, interval: 20 });
    await chat.say(alice);
    expect((await chat.unread(bob))[0]).toBeGreaterThanOrEqual(2);
  });

  test('on a connection that went silent for ever is reached over a new one', async () => {
    const proxy = await RedisProxy.open(server.port);
    const behind = await open(options, proxy.url);
    proxy.before = () => new Promise(() => {});
    await refusedWith(behind.ping(), 'StoreUnavailable');
    proxy.before = () => {};
    await vi.waitFor(() => behind.ping(), { timeout: 60_000, interval: 20 });
    await proxy.close();
  });

  test('by ending gives StoreUnavailable at once, and what was acknowledged is there when it is back', async () => {
    const fixture = new Fixture({ store, advance() {}, skipSequences: never, close: never });
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = fixture.direct(alice, bob);
    const first = chat.request(alice);
    await store.messages.commit(first);
    await server.kill();
    await refusedWith(chat.say(alice), 'StoreUnavailable');
    await refusedWith(chat.summary(bob), 'StoreUnavailable');
    await server.restart();
    await vi.waitFor(() => store.ping(), { timeout: 60_000, interval: 20 });
    expect(await store.messages.commit(first)).toMatchObject({ duplicate: true, conversationSeq: 1 });
    expect(await chat.unread(bob)).toEqual([1, true]);
  });

  test('to remember its scripts gets them again', async () => {
    const fixture = new Fixture({ store, advance() {}, skipSequences: never, close: never });
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = fixture.direct(alice, bob);
    await (await raw()).sendCommand(['SCRIPT', 'FLUSH']);
    const sent = await Promise.all(Array.from({ length: 10 }, () => chat.say(alice)));
    expect(sent.map(({ conversationSeq }) => conversationSeq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    await (await raw()).sendCommand(['SCRIPT', 'FLUSH']);
    const activity = { conversationSeq: SEQ_ZERO, activityAtMs: 5 };
    const users = [alice, bob].map((userId) => ({ userId, joinedSeq: sent[0]?.conversationSeq ?? SEQ_ZERO, visibleFrom: SEQ_ZERO }));
    await store.directory.join(TENANT, chat.conversationId, users, activity);
    expect((await store.directory.page(TENANT, bob, 10, undefined)).views).toHaveLength(1);
  });

  test('by becoming a replica is not read from after the connection was lost', async () => {
    const fixture = new Fixture({ store, advance() {}, skipSequences: never, close: never });
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = fixture.direct(alice, bob);
    await chat.say(alice);
    const client = await raw();
    await client.sendCommand(['REPLICAOF', '127.0.0.1', '1']);
    await client.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']);
    await vi.waitFor(() => expect(chat.summary(bob)).rejects.toThrow('replica'), { timeout: 60_000, interval: 20 });
    await Promise.all([refusedWith(chat.summary(bob), 'StoreUnavailable'), refusedWith(chat.history(bob), 'StoreUnavailable')]);
    await client.sendCommand(['REPLICAOF', 'NO', 'ONE']);
    expect(await chat.unread(bob)).toEqual([1, true]);
  });

  test('by hanging in the greeting of a new connection is tried again', async () => {
    await server.kill();
    // Takes the connection and never answers, as a host does that vanishes just then.
    const held: Socket[] = [];
    const silent = createServer((socket) => held.push(socket.resume())).listen(server.port, '127.0.0.1');
    await vi.waitFor(() => expect(held).not.toEqual([]), { timeout: 60_000, interval: 10 });
    silent.close();
    // Only the client ends it.
    await new Promise((resolve) => held[0]?.once('close', resolve));
    for (const socket of held) socket.destroy();
    await server.restart();
    await vi.waitFor(() => store.ping(), { timeout: 60_000, interval: 20 });
  });

  test('part of a page is no page', async () => {
    const fixture = new Fixture({ store, advance() {}, skipSequences: never, close: never });
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chats = Array.from({ length: 5 }, () => fixture.direct(alice, bob));
    await Promise.all(chats.map((chat) => chat.say(alice)));
    // Every command of a read but HGET is allowed: the others of the pipeline are answered.
    await (await raw()).sendCommand(['ACL', 'SETUSER', 'default', '-hget']);
    const states = chats.map(({ conversationId }) => ({ conversationId, watermark: SEQ_ZERO }));
    await refusedWith(store.messages.readConversations(TENANT, bob, states), 'StoreUnavailable');
  });

  test('to take any more commands than may wait refuses the next pipeline as a whole', async () => {
    const connection = await NodeConnection.open({ address: parseAddress(server.url), name: 'test', timeoutMs: 10_000 });
    try {
      const many = (count: number): Command[] => Array.from({ length: count }, () => ['PING']);
      const full = connection.pipeline(many(STORE_COMMANDS_WAITING_MAX));
      await refusedWith(connection.pipeline([['MULTI'], ['PING'], ['EXEC']]), 'StoreUnavailable');
      expect(await full).toHaveLength(STORE_COMMANDS_WAITING_MAX);
      await refusedWith(connection.pipeline(many(STORE_COMMANDS_WAITING_MAX + 1)), 'StoreUnavailable');
      expect(await connection.pipeline([['MULTI'], ['PING'], ['EXEC']])).toEqual(['OK', 'QUEUED', ['PONG']]);
    } finally {
      connection.destroy();
    }
  });

  test('and a store that was closed answers nothing more', async () => {
    await store.close();
    await store.close();
    await refusedWith(store.ping(), 'StoreUnavailable');
  });
});

function never(): Promise<never> {
  throw new Error('not used here');
}
