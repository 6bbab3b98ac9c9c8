/** What a store's health means for the people who run it. Pure: two looks in, lines out. */
import { DOCTOR_CLOCK_SKEW_MS_MAX, DOCTOR_DAYS_LEFT_MIN, DOCTOR_FREE_PARTS_MIN, DOCTOR_LAG_MS_MAX } from '@qim/proto';
import type { ClusterHealth, DeploymentHealth, NodeHealth, RedisHealth, StoreHealth } from '@qim/store/health';
import { SLOTS_OF_CLUSTER } from '@qim/store/health';

/** unknown: it could not be learned from here. warning: it will become trouble. wrong: it is. */
export type Level = 'ok' | 'unknown' | 'warning' | 'wrong';

export interface Finding {
  readonly check: string;
  /** Which node; '' for the store as a whole. */
  readonly node: string;
  readonly level: Level;
  /** What was found, in one line. */
  readonly found: string;
  /** What to do; '' when there is nothing. */
  readonly todo: string;
}

export interface Looks {
  readonly first: StoreHealth;
  readonly second: StoreHealth;
  /** Between the two. */
  readonly overMs: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;

export function diagnose({ first, second, overMs }: Looks): readonly Finding[] {
  return [
    { check: 'reachable', node: '', level: 'ok', found: second.description, todo: '' },
    ...second.nodes.flatMap((node, i) => ofNode(node, first.nodes[i], overMs)),
    ...(second.cluster === undefined ? [] : [slots(second.cluster)]),
    ...ofDeployment(second.deployment),
  ];
}

/** The one line of a store that does not answer. */
export function unreachable(why: string): Finding {
  return { check: 'reachable', node: '', level: 'wrong', found: why, todo: 'start the store, or correct --store, --data and the password' };
}

function ofNode(node: NodeHealth, before: NodeHealth | undefined, overMs: number): readonly Finding[] {
  const { redis, name } = node;
  const findings = [version(node), ...(redis === undefined ? [] : ofRedis(redis)), clock(node), room(node), disk(node)];
  return [...findings, growth(node, before, overMs)].map((finding) => ({ ...finding, node: name }));
}

type Line = Omit<Finding, 'node'>;

function ok(check: string, found: string): Line {
  return { check, level: 'ok', found, todo: '' };
}

function version({ product, versionServes }: NodeHealth): Line {
  if (versionServes) return ok('version', product);
  return { check: 'version', level: 'wrong', found: product, todo: 'run Redis 7.0 or later, or Valkey' };
}

function ofRedis(redis: RedisHealth): readonly Line[] {
  return [role(redis), eviction(redis), append(redis), replicas(redis)];
}

function role({ primary }: RedisHealth): Line {
  if (primary) return ok('role', 'a primary');
  return { check: 'role', level: 'wrong', found: 'a replica, which takes no writes', todo: 'point --store at the primary' };
}

function eviction({ evictionPolicy, maxMemoryBytes }: RedisHealth): Line {
  const found = `${evictionPolicy}, maxmemory ${maxMemoryBytes === 0 ? 'not set' : megabytes(maxMemoryBytes)}`;
  if (evictionPolicy === 'noeviction') return ok('eviction', found);
  const level = maxMemoryBytes === 0 ? 'warning' : 'wrong';
  return { check: 'eviction', level, found, todo: 'CONFIG SET maxmemory-policy noeviction: what is evicted is lost' };
}

function append({ append: setting, appendWrites }: RedisHealth): Line {
  const check = 'append-only file';
  if (setting === undefined) {
    return { check, level: 'unknown', found: 'on; when it flushes is hidden', todo: 'allow CONFIG GET appendfsync to see it' };
  }
  if (!appendWrites) return { check, level: 'wrong', found: 'its last write failed', todo: "look at Redis's log and the room on its disk" };
  if (setting === 'always') return ok(check, 'flushed before each answer');
  if (setting === 'everysec') {
    const todo = 'appendfsync always, where the last second before a crash of Redis may not be lost';
    return { check, level: 'ok', found: 'flushed every second', todo };
  }
  const found = setting === 'off' ? 'off: a restart of Redis loses everything' : 'never flushed by Redis itself';
  return { check, level: 'wrong', found, todo: 'CONFIG SET appendonly yes, and appendfsync always or everysec' };
}

function replicas({ replicas: count }: RedisHealth): Line {
  if (count > 0) return ok('replicas', `${count} follow`);
  return { check: 'replicas', level: 'warning', found: 'none follows', todo: 'add one: without it a lost disk is lost history' };
}

function clock({ clockAheadMs, redis }: NodeHealth): Line {
  if (redis === undefined) return ok('clock', "the server's own");
  const found = `${Math.abs(clockAheadMs)} ms ${clockAheadMs < 0 ? 'behind' : 'ahead of'} this machine`;
  if (Math.abs(clockAheadMs) <= DOCTOR_CLOCK_SKEW_MS_MAX) return ok('clock', found);
  return { check: 'clock', level: 'warning', found, todo: 'run NTP on both machines: times of messages come from the store' };
}

function room({ usedBytes, freeBytes, redis }: NodeHealth): Line {
  const check = redis === undefined ? 'data file' : 'memory';
  const used = `${megabytes(usedBytes)} used`;
  if (freeBytes === undefined) return { check, level: 'unknown', found: `${used}; what is left is not told`, todo: '' };
  const found = `${used}, ${megabytes(freeBytes)} left${redis === undefined ? '; its map grows with it' : ''}`;
  if (freeBytes >= (usedBytes + freeBytes) / DOCTOR_FREE_PARTS_MIN) return ok(check, found);
  return { check, level: 'warning', found, todo: 'make room, or keep less (--retention-days): full, it refuses every message' };
}

function disk({ freeDiskBytes }: NodeHealth): Line {
  if (freeDiskBytes !== undefined) return ok('disk', `${megabytes(freeDiskBytes)} free`);
  return { check: 'disk', level: 'unknown', found: "Redis's disk is not seen from here", todo: "look at its machine: df on Redis's dir" };
}

function growth({ usedBytes, freeBytes }: NodeHealth, before: NodeHealth | undefined, overMs: number): Line {
  const check = 'days left';
  const grown = usedBytes - (before?.usedBytes ?? usedBytes);
  const over = `${Math.round(overMs / 1000)} s`;
  if (before === undefined || freeBytes === undefined || overMs <= 0) {
    return { check, level: 'unknown', found: 'its growth or its room is not known', todo: '' };
  }
  if (grown <= 0) return { check, level: 'unknown', found: `nothing grew in ${over}`, todo: 'measure longer, under real load: --over 10m' };
  const days = freeBytes / ((grown / overMs) * DAY_MS);
  const found = `${days < 1 ? 'less than 1' : Math.floor(days)}, at the ${megabytes(grown)} that it grew in ${over}`;
  if (days >= DOCTOR_DAYS_LEFT_MIN) return ok(check, found);
  return { check, level: 'warning', found, todo: 'make room, or keep less; measure longer to be sure: --over 10m' };
}

function slots({ ok: sound, slotsServed }: ClusterHealth): Finding {
  const found = `${slotsServed} of ${SLOTS_OF_CLUSTER} slots are served, the Cluster says ${sound ? 'ok' : 'fail'}`;
  const level = sound && slotsServed === SLOTS_OF_CLUSTER ? 'ok' : 'wrong';
  const todo = level === 'ok' ? '' : 'redis-cli --cluster check: conversations in slots without a primary cannot be read';
  return { check: 'slots', node: '', level, found, todo };
}

function ofDeployment(deployment: DeploymentHealth | undefined): readonly Finding[] {
  if (deployment === undefined) {
    const found = 'no qim has stored anything here';
    return [{ check: 'deployment', node: '', level: 'warning', found, todo: 'start a server on it, or correct --store' }];
  }
  return [owners(deployment), lag(deployment), poison(deployment)].map((line) => ({ ...line, node: '' }));
}

function owners({ partitions, owned, owners: count }: DeploymentHealth): Line {
  const check = 'partitions';
  const todo = 'start a server with the role push: until then nothing is delivered';
  if (owned === undefined) {
    if (count > 0) return ok(check, `${partitions}, followed by the server that has the folder`);
    return { check, level: 'warning', found: `${partitions}; no server has the folder`, todo };
  }
  const found = `${owned} of ${partitions} are followed, by ${count} ${count === 1 ? 'process' : 'processes'}`;
  return owned === partitions ? ok(check, found) : { check, level: 'warning', found, todo };
}

function lag({ outbox: { entries, oldestMs } }: DeploymentHealth): Line {
  const found = entries === 0 ? 'nothing waits' : `${entries} wait, the oldest for ${Math.round(oldestMs / 1000)} s`;
  if (entries === 0 || oldestMs <= DOCTOR_LAG_MS_MAX) return ok('delivery', found);
  return { check: 'delivery', level: 'warning', found, todo: 'look at the logs of the processes with the role push; add one' };
}

function poison({ outbox: { poison: count } }: DeploymentHealth): Line {
  if (count === 0) return ok('set aside', 'no entry');
  return {
    check: 'set aside',
    level: 'warning',
    found: `${count} entries could not be delivered`,
    todo: 'devices learn of those messages when they list; run qim fsck to see what is damaged',
  };
}

function megabytes(bytes: number): string {
  return bytes < 10 * 2 ** 20 ? `${(bytes / 2 ** 20).toFixed(1)} MiB` : `${Math.round(bytes / 2 ** 20)} MiB`;
}
