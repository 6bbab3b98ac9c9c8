/**
 * A real Redis Cluster for tests: three primaries with a replica each, on free loopback ports. As `startRedis`.
 *
 * The nodes agree in a second or two, most of which they spend on their own clocks. Nobody is failed over before
 * `nodeTimeoutMs`, which a slow machine must be able to keep.
 */
import { createClient } from 'redis';
import { afterMs } from '../clock.js';
import { keySlot } from '../redis/command-keys.js';
import { SLOTS } from '../redis/partitions.js';
import { freePort, type RedisServer, type RedisServerOptions, startRedis } from './redis-server.js';

export interface RedisClusterOptions extends RedisServerOptions {
  /** A primary that is silent for that long is replaced. Default NODE_TIMEOUT_MS. */
  readonly nodeTimeoutMs?: number;
  /** Of each primary: 0 or 1. Default 1. */
  readonly replicas?: 0 | 1;
}

export interface RedisCluster {
  /** redis+cluster://127.0.0.1:port,127.0.0.1:port,… of all nodes. */
  readonly url: string;
  /** As they were at first: the i-th primary, and its replica. */
  readonly primaries: readonly RedisServer[];
  readonly replicas: readonly RedisServer[];
  /** Sends one command to one node, and gives its reply; an error reply is thrown. */
  command(node: RedisServer, ...command: readonly string[]): Promise<unknown>;
  /** Which node serves the key's slot now, as that node says itself. */
  ownerOf(key: string): Promise<RedisServer>;
  /** Opens a slot of the key's owner for a move to `to`, moves the keys one by one, and closes it; `between` after each step. */
  moveSlot(key: string, to: RedisServer, between?: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

const PRIMARIES = 3;
const NODE_TIMEOUT_MS = 10_000;
const POLL_MS = 20;
const AGREE_TIMEOUT_MS = 45_000;
const KEYS_AT_ONCE = '64';

export async function startRedisCluster(options: RedisClusterOptions = {}): Promise<RedisCluster> {
  const { nodeTimeoutMs = NODE_TIMEOUT_MS, replicas = 1, args = [], ...more } = options;
  const count = PRIMARIES * (1 + replicas);
  const started = await Promise.allSettled(
    Array.from({ length: count }, async () => {
      const bus = String(await freePort());
      const own = ['--cluster-enabled', 'yes', '--cluster-port', bus, '--cluster-node-timeout', String(nodeTimeoutMs)];
      // A replica copies at once, over its socket, and follows from there on.
      const copying = ['--repl-diskless-sync', 'yes', '--repl-diskless-sync-delay', '0', '--cluster-replica-validity-factor', '0'];
      return { server: await startRedis({ ...more, args: [...own, ...copying, ...args] }), bus };
    }),
  );
  const nodes = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const cluster = new StartedCluster(nodes.map(({ server }) => server));
  const failed = started.find((one) => one.status === 'rejected');
  try {
    if (failed !== undefined) throw failed.reason;
    await cluster.form(nodes.map(({ bus }) => bus));
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

type RawClient = ReturnType<typeof rawClient>;

function rawClient(url: string) {
  const client = createClient({ url, RESP: 2, disableClientInfo: true });
  client.on('error', () => {});
  return client;
}

class StartedCluster implements RedisCluster {
  readonly url: string;
  readonly primaries: readonly RedisServer[];
  readonly replicas: readonly RedisServer[];
  readonly #nodes: readonly RedisServer[];
  readonly #clients = new Map<RedisServer, Promise<RawClient>>();

  constructor(nodes: readonly RedisServer[]) {
    this.#nodes = nodes;
    this.primaries = nodes.slice(0, PRIMARIES);
    this.replicas = nodes.slice(PRIMARIES);
    this.url = `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
  }

  async form(buses: readonly string[]): Promise<void> {
    await Promise.all(
      this.primaries.map(async (node, i) => {
        const [from, to] = [i, i + 1].map((n) => Math.floor((n * SLOTS) / PRIMARIES));
        await this.command(node, 'CLUSTER', 'ADDSLOTSRANGE', String(from), String((to ?? 0) - 1));
        await this.command(node, 'CLUSTER', 'SET-CONFIG-EPOCH', String(i + 1));
      }),
    );
    const [first, ...others] = this.#nodes;
    if (first === undefined) return;
    for (const [i, other] of others.entries()) {
      await this.command(first, 'CLUSTER', 'MEET', '127.0.0.1', String(other.port), buses[i + 1] ?? '');
    }
    await this.#until(async () => {
      const known = await Promise.all(this.#nodes.map((node) => this.#info(node, 'cluster_known_nodes')));
      return known.every((nodes) => nodes === String(this.#nodes.length));
    });
    await Promise.all(
      this.replicas.map(async (node, i) => {
        const primary = this.primaries[i];
        if (primary !== undefined) await this.command(node, 'CLUSTER', 'REPLICATE', await this.#id(primary));
      }),
    );
    await this.#until(async () => {
      const states = await Promise.all(this.#nodes.map((node) => this.#info(node, 'cluster_state')));
      const links = await Promise.all(this.replicas.map((node) => this.command(node, 'INFO', 'replication')));
      return states.every((state) => state === 'ok') && links.every((link) => String(link).includes('master_link_status:up'));
    });
  }

  async command(node: RedisServer, ...command: readonly string[]): Promise<unknown> {
    return (await this.#client(node)).sendCommand([...command]);
  }

  async ownerOf(key: string): Promise<RedisServer> {
    const slot = keySlot(key);
    for (const node of this.#nodes) {
      const ranges = await this.#ownSlots(node).catch(() => []);
      if (ranges.some(([from, to]) => slot >= from && slot <= to)) return node;
    }
    throw new Error('nobody serves the slot');
  }

  /** From the node's line about itself; a replica and a node that was replaced have none. */
  async #ownSlots(node: RedisServer): Promise<[number, number][]> {
    const lines = String(await this.command(node, 'CLUSTER', 'NODES')).split('\n');
    const [, , flags = '', , , , , , ...ranges] = lines.find((line) => line.includes('myself'))?.split(' ') ?? [];
    if (!flags.includes('master')) return [];
    return ranges
      .filter((range) => !range.startsWith('['))
      .map((range): [number, number] => {
        const [from, to] = range.split('-').map(Number);
        return [from ?? 0, to ?? from ?? 0];
      });
  }

  async moveSlot(key: string, to: RedisServer, between: () => Promise<void> = async () => {}): Promise<void> {
    const slot = String(keySlot(key));
    const from = await this.ownerOf(key);
    const [source, target] = [await this.#id(from), await this.#id(to)];
    await this.command(to, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', source);
    await this.command(from, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', target);
    await between();
    for (;;) {
      const keys = (await this.command(from, 'CLUSTER', 'GETKEYSINSLOT', slot, KEYS_AT_ONCE)) as string[];
      if (keys.length === 0) break;
      for (const one of keys) {
        await this.command(from, 'MIGRATE', '127.0.0.1', String(to.port), one, '0', '5000');
        await between();
      }
    }
    for (const node of [to, from]) await this.command(node, 'CLUSTER', 'SETSLOT', slot, 'NODE', target);
    await between();
  }

  async stop(): Promise<void> {
    for (const client of this.#clients.values()) void client.then((opened) => opened.destroy()).catch(() => {});
    this.#clients.clear();
    await Promise.all(this.#nodes.map((node) => node.stop()));
  }

  #client(node: RedisServer): Promise<RawClient> {
    const known = this.#clients.get(node);
    if (known !== undefined) return known;
    const opening = (async () => {
      const client = rawClient(node.url);
      await client.connect();
      return client;
    })();
    opening.catch(() => this.#clients.delete(node));
    this.#clients.set(node, opening);
    return opening;
  }

  async #id(node: RedisServer): Promise<string> {
    return String(await this.command(node, 'CLUSTER', 'MYID'));
  }

  async #info(node: RedisServer, field: string): Promise<string | undefined> {
    const info = String(await this.command(node, 'CLUSTER', 'INFO'));
    return new RegExp(`^${field}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  }

  async #until(condition: () => Promise<boolean>): Promise<void> {
    let late = false;
    const callOff = afterMs(AGREE_TIMEOUT_MS, () => {
      late = true;
    });
    try {
      while (!(await condition())) {
        if (late) throw new Error('the nodes of the Cluster do not agree');
        await new Promise<void>((resolve) => void afterMs(POLL_MS, resolve));
      }
    } finally {
      callOff();
    }
  }
}
