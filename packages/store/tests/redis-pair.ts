/** A Redis, a replica of it that can be made to lag, and a store that finds whichever of the two is the primary. */
import { vi } from 'vitest';
import { FaultProxy } from '../../../tools/testing/fault-proxy.js';
import { openRedisStore, type RedisStoreOptions } from '../src/redis/open.js';
import type { Store } from '../src/store.js';
import { type RedisServer, type RedisServerOptions, startRedis } from '../src/testing/redis-server.js';
import { type RawClient, rawClient } from './redis-backend.js';

/** Starting, copying and being found again take a while on a busy machine. */
export const PATIENCE = { timeout: 60_000, interval: 20 };

export class RedisPair {
  readonly first: RedisServer;
  readonly second: RedisServer;
  /** From the store to the primary. */
  readonly #way: FaultProxy;
  /** From the replica to the first one. */
  readonly #replication: FaultProxy;
  readonly #stores: Store[] = [];
  readonly #options: RedisServerOptions;

  private constructor(first: RedisServer, second: RedisServer, way: FaultProxy, replication: FaultProxy, options: RedisServerOptions) {
    this.first = first;
    this.second = second;
    this.#way = way;
    this.#replication = replication;
    this.#options = options;
  }

  /** `attached`: the second one is a replica from the start; otherwise it is alone until `attach`. */
  static async open({ args = [], ...others }: RedisServerOptions, attached = true): Promise<RedisPair> {
    // A replica gets its first copy at once.
    const options = { ...others, args: ['--repl-diskless-sync-delay', '0', ...args] };
    const [first, second] = await Promise.all([startRedis(options), startRedis(options)]);
    const [way, replication] = [await FaultProxy.open({ port: first.port }), await FaultProxy.open({ port: first.port })];
    const pair = new RedisPair(first, second, way, replication, options);
    if (attached) await pair.attach();
    return pair;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#way.port}`;
  }

  async openStore(options: RedisStoreOptions = {}): Promise<Store> {
    const store = await openRedisStore(this.url, options);
    this.#stores.push(store);
    return store;
  }

  async attach(): Promise<void> {
    await withRaw(this.second, (raw) => raw.sendCommand(['REPLICAOF', '127.0.0.1', String(this.#replication.port)]));
    await this.inStep(this.second);
  }

  /** It is a replica and has its first copy. */
  async inStep(server: RedisServer): Promise<void> {
    await vi.waitFor(() => withRaw(server, inStep), PATIENCE);
  }

  /** All that the first one has written until now is on the second one. */
  async caughtUp(): Promise<void> {
    await vi.waitFor(async () => {
      // WAIT is about what was written before the last command of its own connection.
      const acknowledged = await withRaw(this.first, async (raw) => {
        await raw.sendCommand(['PING']);
        return raw.sendCommand(['WAIT', '1', '1000']);
      });
      if (Number(acknowledged) < 1) throw new Error('the replica lags');
    }, PATIENCE);
  }

  /** Nothing more reaches the replica, and neither end notices. */
  lag(): void {
    this.#replication.become({ kind: 'blackHole' });
  }

  /** What was on its way arrives. */
  follow(): void {
    this.#replication.become({ kind: 'sound' });
  }

  /** The first one dies, the second one becomes the primary, and stores find it. */
  async promote(): Promise<void> {
    await this.first.kill();
    await withRaw(this.second, (raw) => raw.sendCommand(['REPLICAOF', 'NO', 'ONE']));
    await this.use(this.second);
  }

  /** Stores are led to this one; their connections break. */
  async use(server: RedisServer): Promise<void> {
    this.#way.retarget(server.port);
    this.#way.break('reset');
    await this.reachable();
  }

  async restart(server: RedisServer): Promise<void> {
    await server.restart(this.#options.args);
    await this.reachable();
  }

  async reachable(): Promise<void> {
    await vi.waitFor(() => Promise.all(this.#stores.map((store) => store.ping())), PATIENCE);
  }

  async close(): Promise<void> {
    for (const store of this.#stores) await store.close().catch(() => {});
    await Promise.all([this.#way.close(), this.#replication.close(), this.first.stop(), this.second.stop()]);
  }
}

export async function withRaw<T>(server: RedisServer, work: (raw: RawClient) => Promise<T>): Promise<T> {
  const raw = await rawClient(server.url);
  try {
    return await work(raw);
  } finally {
    raw.destroy();
  }
}

async function inStep(raw: RawClient): Promise<void> {
  const info = String(await raw.sendCommand(['INFO', 'replication']));
  if (!info.includes('master_link_status:up')) throw new Error('the replica is not in step');
}
