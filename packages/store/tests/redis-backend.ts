/** A Redis of its own, and a store on it, as the suites and the Redis tests open them. */
import { STORE_COMMAND_TIMEOUT_MS } from '@qim/proto';
import { createClient, RESP_TYPES } from 'redis';
import { parseAddress } from '../src/redis/address.js';
import { openConnection } from '../src/redis/connect.js';
import type { Command } from '../src/redis/connection.js';
import { damageRedis, skipSequencesRedis } from '../src/redis/damage.js';
import { openRedisStore, type RedisStoreOptions } from '../src/redis/open.js';
import type { Store } from '../src/store.js';
import type { OpenedBackend } from '../src/testing/conformance/backend.js';
import { type RedisServer, type RedisServerOptions, startRedis } from '../src/testing/redis-server.js';

/** QIM_FAST_PATHS=false runs the suites on the plain paths. */
export const FAST_PATHS = process.env.QIM_FAST_PATHS !== 'false';

export class RedisBackend implements OpenedBackend {
  readonly server: RedisServer;
  readonly #options: RedisStoreOptions;
  #offsetMs = 0;
  #store: Store | undefined;

  private constructor(server: RedisServer, options: RedisStoreOptions) {
    this.server = server;
    this.#options = options;
  }

  static async open(options: RedisStoreOptions = {}, serverOptions: RedisServerOptions = {}): Promise<RedisBackend> {
    const backend = new RedisBackend(await startRedis(serverOptions), options);
    await backend.#open();
    return backend;
  }

  async #open(): Promise<void> {
    this.#store = await openRedisStore(this.server.url, { clockOffsetMs: () => this.#offsetMs, fastPaths: FAST_PATHS, ...this.#options });
  }

  get url(): string {
    return this.server.url;
  }

  get store(): Store {
    if (this.#store === undefined) throw new Error('the store is closed');
    return this.#store;
  }

  /** Moves the clock that the scripts read, also back. */
  advance(ms: number): void {
    this.#offsetMs += ms;
  }

  skipSequences: OpenedBackend['skipSequences'] = (target, count) => skipSequencesRedis(this.server.url, target, count);

  damage: NonNullable<OpenedBackend['damage']> = (target, kind) => damageRedis(this.server.url, target, kind);

  async reopen(): Promise<void> {
    await this.store.close();
    await this.#open();
  }

  async close(): Promise<void> {
    await this.#store?.close();
    await this.server.stop();
  }
}

/** A connection for looking into a server or a Cluster and for breaking what is there; replies as bytes. */
export async function rawClient(url: string): Promise<RawClient> {
  return url.startsWith('redis+cluster:') ? rawCluster(url) : rawNode(url);
}
export type RawClient = Pick<Awaited<ReturnType<typeof rawNode>>, 'sendCommand' | 'destroy'>;

async function rawNode(url: string) {
  const client = createClient({ url, RESP: 2, disableClientInfo: true }).withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function rawCluster(url: string): Promise<RawClient> {
  const connection = await openConnection({ address: parseAddress(url), name: 'test', timeoutMs: STORE_COMMAND_TIMEOUT_MS });
  return {
    sendCommand: async <T>(args: readonly (string | Buffer)[]) => (await connection.call(...(args as Command))) as T,
    destroy: () => connection.destroy(),
  };
}
