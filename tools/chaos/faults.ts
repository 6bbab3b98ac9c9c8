/** How each kind of fault is done, and undone. */
import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { rawRedis } from '../../packages/store/src/testing/raw-redis.js';
import type { RedisServer } from '../../packages/store/src/testing/redis-server.js';
import type { Condition, FaultProxy } from '../testing/fault-proxy.js';
import type { Fault, FaultKind } from './schedule.js';
import type { ServerProcess } from './server-process.js';
import type { World } from './world.js';

/** Ends the fault. */
export type Undo = () => Promise<void> | void;
type Inject = (target: Target) => Promise<Undo> | Undo;

interface Target {
  readonly world: World;
  readonly server: ServerProcess;
  readonly dice: number;
}

const REPLACED_WITHIN_MS = 60_000;
const LOOK_MS = 50;
const SLOW: Condition = { kind: 'slow', latencyMs: 80, jitterMs: 120, bytesPerSecond: 200_000 };
/** Leases of another process look long over, and a week's end is never far. */
const CLOCK_JUMPS_MS = [-20 * 60_000, -5_000, 30_000, 20 * 60_000, 2 * 24 * 60 * 60_000] as const;

export const FAULTS: Readonly<Record<FaultKind, Inject>> = {
  linkSlow: ({ server }) => becoming(server.front, SLOW),
  linkBlackHole: ({ server }) => becoming(server.front, { kind: 'blackHole' }),
  linkReset: ({ server }) => breaking(server.front, 'reset'),
  linkServerGone: ({ server }) => breaking(server.front, 'serverGone'),
  linkClientGone: ({ server }) => breaking(server.front, 'clientGone'),
  linkCut: ({ server }) => breaking(server.front, 'cut'),
  linkRefused({ server }) {
    const undo = becoming(server.front, { kind: 'refuse' });
    server.front.break('cut');
    return undo;
  },
  storeSlow: ({ server }) => becoming(back(server), SLOW),
  storeBlackHole: ({ server }) => becoming(back(server), { kind: 'blackHole' }),
  storeReset: ({ server }) => breaking(back(server), 'reset'),
  storeServerGone: ({ server }) => breaking(back(server), 'serverGone'),
  storeClientGone: ({ server }) => breaking(back(server), 'clientGone'),
  storeCut: ({ server }) => breaking(back(server), 'cut'),
  serverKilled: ({ server }) => killed(server),
  async pushOwnerKilled({ world }) {
    return killed(await pushOwner(world));
  },
  serverStopped({ server }) {
    server.signal('SIGSTOP');
    return () => server.signal('SIGCONT');
  },
  /** As an operator does it: SIGTERM, a drain, a new process. */
  async serverRestarted({ server }) {
    await server.end('SIGTERM');
    return () => server.start();
  },
  redisKilled: ({ world, dice }) => redisKilled(one(world.primaries, dice)),
  redisStopped: ({ world, dice }) => redisStopped(one(world.primaries, dice)),
  replicaKilled: ({ world, dice }) => redisKilled(one(world.replicas, dice)),
  replicaStopped: ({ world, dice }) => redisStopped(one(world.replicas, dice)),
  primaryReplaced: ({ world, dice }) => primaryReplaced(one(pairs(world), dice)),
  storeFull: ({ world, server, dice }) => (world.primaries.length === 0 ? fileFull(server) : memoryFull(one(nodes(world), dice))),
  clockJump({ world, dice }) {
    const offsetMs = CLOCK_JUMPS_MS[dice % CLOCK_JUMPS_MS.length] ?? 0;
    for (const server of world.servers) server.setClock(offsetMs);
    return () => {
      for (const server of world.servers) server.setClock(0);
    };
  },
};

/** @throws when the fault could not be done: then the run proves nothing */
export async function inject(world: World, { kind, server, dice }: Fault): Promise<Undo> {
  const chosen = world.servers[server % world.servers.length];
  if (chosen === undefined) throw new Error('there is a server');
  return FAULTS[kind]({ world, server: chosen, dice });
}

function becoming(proxy: FaultProxy, condition: Condition): Undo {
  proxy.become(condition);
  return () => proxy.heal();
}

function breaking(proxy: FaultProxy, how: Parameters<FaultProxy['break']>[0]): Undo {
  proxy.break(how);
  return () => proxy.heal();
}

async function killed(server: ServerProcess): Promise<Undo> {
  await server.end('SIGKILL');
  return () => server.start();
}

/** Whose leases are the most, by its own count. */
async function pushOwner({ servers }: World): Promise<ServerProcess> {
  const held = await Promise.all(
    servers.map(async (server) => {
      const answer = await fetch(`http://127.0.0.1:${server.port}/metrics`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
      return Number(/^qim_push_partitions (\d+)/m.exec((await answer?.text()) ?? '')?.[1] ?? 0);
    }),
  );
  const owner = servers[held.indexOf(Math.max(...held))];
  if (owner === undefined) throw new Error('there is a server');
  return owner;
}

/** The data file cannot grow past where it is, as on a full disk. The hard limit stays, so that it can be lifted. */
async function fileFull(server: ServerProcess): Promise<Undo> {
  const limit = async (soft: string): Promise<void> => {
    if (server.pid !== undefined) await promisify(execFile)('prlimit', ['--pid', String(server.pid), `--fsize=${soft}:`]);
  };
  await limit('4096');
  return () => limit('unlimited');
}

async function memoryFull({ port }: RedisServer): Promise<Undo> {
  const limit = async (bytes: string): Promise<void> => {
    const answer = await rawRedis(port, 'CONFIG', 'SET', 'maxmemory', bytes);
    if (answer !== '+OK') throw new Error(`maxmemory could not be set: ${answer}`);
  };
  await limit('1');
  return () => limit('0');
}

function back({ back: proxy }: ServerProcess): FaultProxy {
  if (proxy === undefined) throw new Error('this store is not reached over a link');
  return proxy;
}

async function redisKilled(node: RedisServer): Promise<Undo> {
  await node.kill();
  return () => node.restart();
}

function redisStopped(node: RedisServer): Undo {
  node.pause();
  return () => node.resume();
}

/** Whichever of the two is the primary now is dead until the other one is. */
async function primaryReplaced([first, second]: readonly [RedisServer, RedisServer]): Promise<Undo> {
  const [primary, replica] = (await isPrimary(first)) ? [first, second] : [second, first];
  await followed(primary);
  await primary.kill();
  const endsAt = performance.now() + REPLACED_WITHIN_MS;
  while (!(await isPrimary(replica))) {
    if (performance.now() > endsAt) throw new Error('the replica did not take over');
    await pause(LOOK_MS);
  }
  return () => primary.restart();
}

/** Only a replica that follows may take over. */
async function followed(primary: RedisServer): Promise<void> {
  const endsAt = performance.now() + REPLACED_WITHIN_MS;
  while (!/^slave0:.*state=online/m.test(await rawRedis(primary.port, 'INFO', 'replication'))) {
    if (performance.now() > endsAt) throw new Error('no replica follows');
    await pause(LOOK_MS);
  }
}

async function isPrimary(node: RedisServer): Promise<boolean> {
  return (await rawRedis(node.port, 'INFO', 'replication')).includes('role:master');
}

function nodes({ primaries, replicas }: World): readonly RedisServer[] {
  return [...primaries, ...replicas];
}

function pairs({ primaries, replicas }: World): readonly (readonly [RedisServer, RedisServer])[] {
  return primaries.flatMap((primary, i) => {
    const replica = replicas[i];
    return replica === undefined ? [] : [[primary, replica] as const];
  });
}

function one<T>(choices: readonly T[], dice: number): T {
  const chosen = choices[dice % choices.length];
  if (chosen === undefined) throw new Error('this store has none of them');
  return chosen;
}
