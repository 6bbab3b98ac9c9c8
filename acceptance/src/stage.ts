/**
 * One store under test: a store that this run started itself, and the real server as a separate process beside it.
 * Nothing here can be pointed at a store that runs already.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type RedisCluster, type RedisServer, type StoreLocation, startRedis, startRedisCluster } from '@qim/store/testing';
import { Api } from './api.js';
import { mintToken, Person } from './people.js';

/** How a command ended. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export type StoreName = 'embedded' | 'redis' | 'cluster';

const QIM = fileURLToPath(new URL('../../packages/cli/bin/qim.js', import.meta.url));
const READY_TIMEOUT_MS = 20_000;
const DELIVERY_MS_MAX = 10_000;
const DELIVERY_POLL_MS = 50;

export class Stage {
  readonly name: StoreName;
  readonly secret = randomBytes(32).toString('hex');
  readonly location: StoreLocation;
  /** Undefined but on a single Redis. */
  readonly redis: RedisServer | undefined;
  /** Undefined but on a Redis Cluster. */
  readonly cluster: RedisCluster | undefined;
  readonly api = new Api(() => this.url);
  readonly #folder: string;
  #child: ChildProcess | undefined;
  #url = '';
  #people = 0;

  private constructor(name: StoreName, folder: string, redis: RedisServer | undefined, cluster: RedisCluster | undefined) {
    this.name = name;
    this.#folder = folder;
    this.redis = redis;
    this.cluster = cluster;
    this.location = { store: redis?.url ?? cluster?.url ?? 'embedded', data: join(folder, 'data') };
  }

  /** An acknowledged message must outlive a kill: Redis runs with appendfsync always. */
  static async open(name: StoreName): Promise<Stage> {
    const folder = await mkdtemp(join(tmpdir(), 'qim-acceptance-'));
    const redis = name === 'redis' ? await startRedis({ appendonly: 'always' }) : undefined;
    const cluster = name === 'cluster' ? await startRedisCluster({ appendonly: 'always' }) : undefined;
    const stage = new Stage(name, folder, redis, cluster);
    await writeFile(join(folder, 'secret'), `${stage.secret}\n`, { mode: 0o600 });
    await stage.start();
    return stage;
  }

  /** The Redis servers that take writes; none on the embedded store. */
  get nodes(): readonly RedisServer[] {
    return this.cluster?.primaries ?? (this.redis === undefined ? [] : [this.redis]);
  }

  get url(): string {
    return this.#url;
  }

  async start(): Promise<void> {
    // Without limits: few users send here what many would.
    const args = ['serve', '--port', '0', '--data', this.location.data, '--store', this.location.store, '--send-rates', 'off'];
    const child = spawn(process.execPath, [QIM, ...args, '--jwt-secret-file', join(this.#folder, 'secret'), '--log-level', 'error'], {
      stdio: ['ignore', 'pipe', 'inherit'],
      cwd: this.#folder,
    });
    this.#child = child;
    this.#url = await readyUrl(child);
  }

  /** SIGKILL: nothing in the process gets a last word. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** As an operator stops it. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  /** Another command of qim's on this store, as a process of its own. */
  async qim(...args: readonly string[]): Promise<Ran> {
    const place = ['--data', this.location.data, '--store', this.location.store];
    const child = spawn(process.execPath, [QIM, ...args, ...place], { stdio: ['ignore', 'pipe', 'pipe'], cwd: this.#folder });
    const closed: Promise<readonly unknown[]> = once(child, 'close');
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
    return { code: Number(code), out, err };
  }

  /** Until the outbox is empty: the order of lists, alone of all that is told, may lag behind it. */
  async delivered(): Promise<void> {
    for (let waited = 0; waited < DELIVERY_MS_MAX; waited += DELIVERY_POLL_MS) {
      const metrics = await (await fetch(new URL('/metrics', this.#url))).text();
      if (/^qim_outbox_entries 0$/m.test(metrics)) return;
      await wait(DELIVERY_POLL_MS);
    }
    throw new Error('the server does not deliver');
  }

  async close(): Promise<void> {
    await this.stop();
    await this.redis?.stop();
    await this.cluster?.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  token(claims: Record<string, unknown>, ttlSeconds?: number): Promise<string> {
    return mintToken(this.secret, claims, ttlSeconds);
  }

  /** A person nobody has met before in this run. */
  async person(name: string, more: Record<string, unknown> = {}): Promise<Person> {
    this.#people += 1;
    return this.deviceOf(`${name}-${this.#people}`, more);
  }

  async deviceOf(id: string, more: Record<string, unknown> = {}): Promise<Person> {
    return new Person(id, await this.token({ sub: id, ...more }), this.api);
  }
}

async function readyUrl(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('the server was started without a pipe');
  const lines = createInterface({ input: child.stdout });
  const timer = setTimeout(() => child.kill('SIGKILL'), READY_TIMEOUT_MS);
  try {
    for await (const line of lines) {
      const url = /http:\/\/\S+/.exec(line)?.[0];
      if (url !== undefined && line.includes('ready')) return url;
    }
    throw new Error('the server ended before it was ready');
  } finally {
    clearTimeout(timer);
    lines.close();
    child.stdout.resume();
  }
}
