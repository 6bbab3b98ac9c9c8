/** Servers and a store as processes, with proxies between them: everything that a run may break. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LEGACY_TENANT_ID, parseDeviceId, parseUserId } from '@qim/proto';
import { createSecretTokens } from '@qim/server';
import { startRedisCluster } from '../../packages/store/src/testing/redis-cluster.js';
import { type RedisServer, startRedis } from '../../packages/store/src/testing/redis-server.js';
import { FaultProxy } from '../testing/fault-proxy.js';
import type { StoreName } from './schedule.js';
import { ServerProcess } from './server-process.js';

/** Tokens outlive every jump of the clock. */
const TOKEN_SECONDS = 7 * 24 * 60 * 60;
/** A primary of the Cluster that is silent for that long is replaced. */
const NODE_TIMEOUT_MS = 3_000;

/** Of the server, by name. */
type Settings = Readonly<Record<string, string>>;

/** The shortest that may be set: what is dead is noticed and taken over within a run of some seconds. */
const HASTY: Settings = { pushLease: '3s', pingInterval: '1s' };

export interface World {
  readonly store: StoreName;
  readonly servers: readonly ServerProcess[];
  /** None on the embedded store. */
  readonly primaries: readonly RedisServer[];
  /** Of the Cluster: the i-th primary's, as they were at first. */
  readonly replicas: readonly RedisServer[];
  token(user: string, device: string): Promise<string>;
  /** Everything is sound again: links, clocks, processes. */
  heal(): Promise<void>;
  close(): Promise<void>;
}

interface Nodes {
  readonly url: string;
  readonly primaries: readonly RedisServer[];
  readonly replicas: readonly RedisServer[];
  stop(): Promise<void>;
}

/** An acknowledgement must outlive a kill: Redis flushes each write, and a Cluster's replica has it too. */
async function startNodes(store: StoreName): Promise<Nodes | undefined> {
  if (store === 'embedded') return undefined;
  if (store === 'cluster') return startRedisCluster({ appendonly: 'always', nodeTimeoutMs: NODE_TIMEOUT_MS });
  const redis = await startRedis({ appendonly: 'always' });
  return { url: redis.url, primaries: [redis], replicas: [], stop: () => redis.stop() };
}

export async function openWorld(store: StoreName, serverCount: number, settings: Settings = HASTY): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'qim-chaos-'));
  const nodes = await startNodes(store);
  const secret = randomBytes(32).toString('hex');
  await writeFile(join(folder, 'secret'), `${secret}\n`, { mode: 0o600 });
  const servers: ServerProcess[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.close()));
    await nodes?.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    for (let i = 0; i < serverCount; i += 1) servers.push(await startServer(`server ${i}`, { folder, store, nodes, settings }));
  } catch (error) {
    await close();
    throw error;
  }
  const minter = createSecretTokens({ secrets: [secret], now: Date.now });
  return {
    store,
    servers,
    primaries: nodes?.primaries ?? [],
    replicas: nodes?.replicas ?? [],
    close,
    async token(user, device) {
      const claims = { tenantId: LEGACY_TENANT_ID, userId: parseUserId(user), deviceId: parseDeviceId(device), admin: false };
      return (await minter.mint({ ...claims, ttlSeconds: TOKEN_SECONDS })).token;
    },
    async heal() {
      for (const server of servers) {
        server.front.heal();
        server.back?.heal();
        server.setClock(0);
        server.signal('SIGCONT');
        if (server.pid === undefined) await server.start();
      }
    },
  };
}

interface Place {
  readonly folder: string;
  readonly store: StoreName;
  readonly nodes: Nodes | undefined;
  readonly settings: Settings;
}

async function startServer(name: string, { folder, store, nodes, settings }: Place): Promise<ServerProcess> {
  const redis = store === 'redis' ? nodes?.primaries[0] : undefined;
  const back = redis === undefined ? undefined : await FaultProxy.open({ port: redis.port });
  const url = back === undefined ? nodes?.url : `redis://127.0.0.1:${back.port}`;
  const flags = {
    store: url ?? 'embedded',
    ackReplicas: store === 'cluster' ? '1' : '0',
    data: join(folder, 'data'),
    jwtSecretFile: join(folder, 'secret'),
    logLevel: 'warn',
    // Few users send here what many would.
    sendRates: 'off',
    ...settings,
  };
  return ServerProcess.start({ name, flags, back });
}
