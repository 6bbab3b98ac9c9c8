/** The health of one Redis, or of a Cluster's primaries: read only, on a connection of its own, also where qim would not run. */
import { isQimError, STORE_COMMAND_TIMEOUT_MS } from '@qim/proto';
import { ErrorReply } from 'redis';
import type { ClusterHealth, DeploymentHealth, HealthReader, NodeHealth, RedisHealth, StoreHealth } from '../health/health.js';
import { describeAddress, parseAddress, type StoreAddress } from './address.js';
import { openConnection } from './connect.js';
import type { Command, PrimaryConnection, RedisConnection } from './connection.js';
import { DEPLOYMENT_KEY, KeySpace } from './keys.js';
import { readBacklog } from './partition-streams.js';
import { asArray, asOptionalText, asText, rightTypeOf } from './replies.js';

const VERSION_MIN = 7;

export interface RedisHealthOptions {
  readonly password?: string;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** @throws InvalidArgument (field `store`); StoreUnavailable when there is no answer */
export async function openRedisHealth(url: string, { password, now }: RedisHealthOptions): Promise<HealthReader> {
  const address = parseAddress(url, password);
  const connection = await openConnection({ address, name: 'qim-doctor', timeoutMs: STORE_COMMAND_TIMEOUT_MS });
  return { look: () => look(connection, address, now), close: () => connection.close() };
}

async function look(connection: RedisConnection, address: StoreAddress, now: () => number): Promise<StoreHealth> {
  await connection.look();
  const primaries = await connection.primaries();
  const nodes = await Promise.all(primaries.map((primary) => lookAtNode(primary, now)));
  const product = [...new Set(nodes.map((node) => node.product))].join(', ');
  return {
    description: `${product} at ${describeAddress(address)}`,
    nodes,
    cluster: address.cluster ? await lookAtCluster(primaries) : undefined,
    deployment: await lookAtDeployment(connection),
  };
}

async function lookAtNode(primary: PrimaryConnection, now: () => number): Promise<NodeHealth> {
  const [info, time] = await primary.pipeline([['INFO'], ['TIME']]);
  const facts = parseFacts(asText(info));
  const number = (name: string): number => Number(facts.get(name) ?? 0);
  const version = facts.get('redis_version') ?? '';
  const usedBytes = number('used_memory');
  const roomBytes = number('maxmemory') || number('total_system_memory');
  const [seconds, micros] = asArray(time).map((part) => Number(asText(part)));
  return {
    name: primary.name,
    product: facts.has('valkey_version') ? `valkey ${facts.get('valkey_version')}` : `redis ${version || 'of an unknown version'}`,
    versionServes: Number.parseInt(version, 10) >= VERSION_MIN,
    redis: await redisHealth(primary, facts),
    usedBytes,
    freeBytes: roomBytes === 0 ? undefined : Math.max(0, roomBytes - usedBytes),
    freeDiskBytes: undefined,
    clockAheadMs: (seconds ?? 0) * 1000 + Math.floor((micros ?? 0) / 1000) - now(),
  };
}

async function redisHealth(primary: PrimaryConnection, facts: ReadonlyMap<string, string>): Promise<RedisHealth> {
  const replicas = [...facts].filter(([name, value]) => /^slave\d+$/.test(name) && value.includes('state=online'));
  return {
    primary: facts.get('role') === 'master',
    evictionPolicy: facts.get('maxmemory_policy') ?? 'unknown',
    maxMemoryBytes: Number(facts.get('maxmemory') ?? 0),
    append: facts.get('aof_enabled') === '1' ? await appendSetting(primary) : 'off',
    appendWrites: (facts.get('aof_last_write_status') ?? 'ok') === 'ok',
    replicas: replicas.length,
  };
}

/** A server may hide its configuration. */
async function appendSetting(primary: PrimaryConnection): Promise<RedisHealth['append']> {
  try {
    const setting = asText(asArray(await primary.call('CONFIG', 'GET', 'appendfsync'))[1]);
    return (['always', 'everysec', 'no'] as const).find((known) => known === setting);
  } catch (error) {
    if (isQimError(error) && error.cause instanceof ErrorReply) return undefined;
    throw error;
  }
}

/** By the first primary that says how it is: they agree, or the Cluster is not well. */
async function lookAtCluster([first]: readonly PrimaryConnection[]): Promise<ClusterHealth> {
  const facts = parseFacts(first === undefined ? '' : asText(await first.call('CLUSTER', 'INFO')));
  return { ok: facts.get('cluster_state') === 'ok', slotsServed: Number(facts.get('cluster_slots_ok') ?? 0) };
}

async function lookAtDeployment(connection: RedisConnection): Promise<DeploymentHealth | undefined> {
  const partitions = Number(asOptionalText(await connection.call('HGET', DEPLOYMENT_KEY, 'partitions')) ?? 0);
  if (!Number.isInteger(partitions) || partitions < 1) return undefined;
  const outboxes = new KeySpace(partitions).outboxes();
  const streams = outboxes.map(({ outbox, poison }) => ({ waiting: outbox, aside: poison }));
  const { waiting: entries, oldestMs, aside: poison } = await readBacklog(connection, streams, rightTypeOf('the outbox'));
  const leases = outboxes.map(({ lease }): Command => ['HMGET', lease, 'owner', 'untilMs']);
  const [time, ...replies] = await connection.pipeline([['TIME'], ...leases]);
  const nowMs = Number(asText(asArray(time)[0])) * 1000;
  const owners = replies.flatMap((reply) => {
    const [owner, untilMs] = asArray(reply).map(asOptionalText);
    return owner !== undefined && Number(untilMs ?? 0) > nowMs ? [owner] : [];
  });
  return { partitions, owned: owners.length, owners: new Set(owners).size, outbox: { entries, oldestMs, poison } };
}

function parseFacts(text: string): ReadonlyMap<string, string> {
  return new Map(text.split('\r\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)] as const));
}
