/**
 * What must be true of a server before anything is stored on it, and how the deployment on it was made.
 *
 * The checks are told to a person at start, so each refusal says what to change.
 */
import { type AckDurability, COMMIT_PARTITIONS_DEFAULT, COMMIT_PARTITIONS_MAX, invalidArgument, isQimError } from '@qim/proto';
import { ErrorReply } from 'redis';
import { importUnderWay } from '../errors.js';
import { isWrongType, type PrimaryConnection, type RedisConnection } from './connection.js';
import { DEPLOYMENT_KEY, IMPORT_FIELDS } from './keys.js';
import { asArray, asOptionalText, asText } from './replies.js';
import type { Scripts } from './scripts.js';

/** Of keys and stored forms. A newer one is refused; this one reads all older ones. */
const FORMAT = 1;
const VERSION_MIN = 7;

export interface ServerFacts {
  /** Such as 'redis 7.0.15' or 'valkey 8.1.1'. */
  readonly product: string;
  readonly ackDurability: AckDurability;
  /** The server's clock minus this process's. */
  readonly clockAheadMs: number;
  /** That follow it; of several primaries the fewest. */
  readonly replicas: number;
}

/** From the least to the most that an acknowledgement is worth. */
const BY_WORTH: readonly AckDurability[] = ['memory', 'everysec', 'synced'];

/**
 * Of all primaries: an acknowledgement is worth what the worst of them makes it. `cluster`: what the address said, and the
 * servers must be. Cost: 2, to each. @throws InvalidArgument (field `store`) when they must not be used; StoreUnavailable
 */
export async function inspectServers(connection: RedisConnection, cluster: boolean, now: () => number): Promise<ServerFacts> {
  const primaries = await connection.primaries();
  const found = await Promise.all(primaries.map((primary) => inspectServer(primary, cluster, now)));
  const worst = found.reduce((a, b) => (BY_WORTH.indexOf(b.ackDurability) < BY_WORTH.indexOf(a.ackDurability) ? b : a));
  return { ...worst, clockAheadMs: found[0]?.clockAheadMs ?? 0, replicas: Math.min(...found.map(({ replicas }) => replicas)) };
}

async function inspectServer(connection: PrimaryConnection, cluster: boolean, now: () => number): Promise<ServerFacts> {
  const [info, time] = await connection.pipeline([['INFO'], ['TIME']]);
  const facts = parseInfo(asText(info));
  const of = (name: string): string => facts.get(name) ?? '';
  const version = Number.parseInt(of('redis_version'), 10);
  if (!(version >= VERSION_MIN)) throw refuse(`a Redis of version 7.0 or later; this one is ${of('redis_version') || 'unknown'}`);
  const mode = of('redis_mode');
  if (!cluster && mode === 'cluster') throw refuse('a single Redis; this one is part of a Cluster: write redis+cluster://');
  if (cluster && mode !== 'cluster') throw refuse('a Redis Cluster; this one is a single Redis: write redis://');
  if (of('role') !== 'master') throw refuse('a primary; this one is a replica, which takes no writes');
  if (of('maxmemory') !== '0' && of('maxmemory_policy') !== 'noeviction') {
    throw refuse(`a Redis that never evicts: set maxmemory-policy to noeviction (it is ${of('maxmemory_policy')})`);
  }
  const [seconds, micros] = asArray(time).map((part) => Number(asText(part)));
  return {
    product: facts.has('valkey_version') ? `valkey ${of('valkey_version')}` : `redis ${of('redis_version')}`,
    ackDurability: of('aof_enabled') === '1' ? await appendDurability(connection) : 'memory',
    replicas: Number(of('connected_slaves') || 0),
    clockAheadMs: (seconds ?? 0) * 1000 + Math.floor((micros ?? 0) / 1000) - now(),
  };
}

function parseInfo(text: string): ReadonlyMap<string, string> {
  const lines = text.split('\r\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)] as const);
  return new Map(lines);
}

/**
 * What cannot be known is not claimed: a server that hides its configuration may flush whenever it likes, and so does one
 * that does not flush while it rewrites its file.
 */
async function appendDurability(connection: PrimaryConnection): Promise<AckDurability> {
  let values: string[];
  try {
    values = asArray(await connection.call('CONFIG', 'GET', 'appendfsync', 'no-appendfsync-on-rewrite')).map(asText);
  } catch (error) {
    if (isQimError(error) && error.cause instanceof ErrorReply) return 'memory';
    throw error;
  }
  const of = (name: string): string | undefined => values[values.indexOf(name) + 1];
  if (of('no-appendfsync-on-rewrite') !== 'no') return 'memory';
  const fsync = of('appendfsync');
  if (fsync === 'always') return 'synced';
  return fsync === 'everysec' ? 'everysec' : 'memory';
}

/**
 * The number of partitions of the deployment, which is made when there is none. `partitions` undefined: whatever it has.
 * Cost: 1. @throws InvalidArgument (field `store`) when it was made in another way; StoreUnavailable
 */
export async function joinDeployment(scripts: Scripts, partitions: number | undefined): Promise<number> {
  if (partitions !== undefined && !isPartitionCount(partitions)) throw invalidArgument('partitions', `1..${COMMIT_PARTITIONS_MAX}`);
  const reply = await scripts.run('deployment', [DEPLOYMENT_KEY], [String(partitions ?? COMMIT_PARTITIONS_DEFAULT), String(FORMAT)]);
  if (isWrongType(reply)) throw refuse(`a Redis of qim's own; its key ${DEPLOYMENT_KEY} is something else`);
  const [count, format] = asArray(reply).map((value) => Number(asOptionalText(value)));
  if (!isPartitionCount(count) || !Number.isInteger(format)) throw refuse(`a whole deployment; its key ${DEPLOYMENT_KEY} is not readable`);
  if ((format ?? 0) > FORMAT) throw refuse(`of format ${FORMAT} or older; it is ${format}, written by a newer qim`);
  if (partitions !== undefined && partitions !== count) {
    throw refuse(`made with ${partitions} commit partitions; it has ${count}, and they are fixed`);
  }
  return count;
}

/** Cost: 1. @throws StoreUnavailable when an import has not come to its end */
export async function refuseImport(connection: RedisConnection): Promise<void> {
  if ((await connection.call('HGET', DEPLOYMENT_KEY, IMPORT_FIELDS[0])) !== null) throw importUnderWay();
}

function isPartitionCount(count: number | undefined): count is number {
  return count !== undefined && Number.isInteger(count) && count >= 1 && count <= COMMIT_PARTITIONS_MAX;
}

function refuse(allowed: string) {
  return invalidArgument('store', allowed);
}
