/** A Cluster of its own, and a store on it. */
import { damageRedis, skipSequencesRedis } from '../src/redis/damage.js';
import { openRedisStore, type RedisStoreOptions } from '../src/redis/open.js';
import type { Store } from '../src/store.js';
import type { OpenedBackend } from '../src/testing/conformance/backend.js';
import { type RedisCluster, type RedisClusterOptions, startRedisCluster } from '../src/testing/redis-cluster.js';

export class ClusterBackend implements OpenedBackend {
  readonly cluster: RedisCluster;
  readonly #options: RedisStoreOptions;
  /** It is used by other suites too, and stopped by whoever started it. */
  readonly #shared: boolean;
  #offsetMs = 0;
  #store: Store | undefined;

  private constructor(cluster: RedisCluster, options: RedisStoreOptions, shared: boolean) {
    this.cluster = cluster;
    this.#options = options;
    this.#shared = shared;
  }

  static async open(options: RedisStoreOptions = {}, clusterOptions: RedisClusterOptions = {}): Promise<ClusterBackend> {
    const backend = new ClusterBackend(await startRedisCluster(clusterOptions), options, false);
    await backend.#open();
    return backend;
  }

  /** An empty store on a Cluster that is there: what others left is removed. */
  static async on(cluster: RedisCluster, options: RedisStoreOptions = {}): Promise<ClusterBackend> {
    await Promise.all(cluster.primaries.map((node) => cluster.command(node, 'FLUSHALL')));
    const backend = new ClusterBackend(cluster, options, true);
    await backend.#open();
    return backend;
  }

  async #open(): Promise<void> {
    this.#store = await openRedisStore(this.cluster.url, { clockOffsetMs: () => this.#offsetMs, ...this.#options });
  }

  get url(): string {
    return this.cluster.url;
  }

  get store(): Store {
    if (this.#store === undefined) throw new Error('the store is closed');
    return this.#store;
  }

  /** Moves the clock that the scripts read, also back. */
  advance(ms: number): void {
    this.#offsetMs += ms;
  }

  skipSequences: OpenedBackend['skipSequences'] = (target, count) => skipSequencesRedis(this.cluster.url, target, count);

  damage: NonNullable<OpenedBackend['damage']> = (target, kind) => damageRedis(this.cluster.url, target, kind);

  async reopen(): Promise<void> {
    await this.store.close();
    await this.#open();
  }

  async close(): Promise<void> {
    await this.#store?.close();
    if (!this.#shared) await this.cluster.stop();
  }
}
