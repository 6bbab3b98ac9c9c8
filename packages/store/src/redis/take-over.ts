/**
 * Which server takes the writes of a partition: noticed by every writing script (includes/partition-guard.lua), decided
 * here.
 *
 * A server that restarted with AOF `always` has lost nothing that was acknowledged, and is only noted. Of any other change
 * nobody can say what was lost, so the epoch of the partition rises: each conversation then leaves out sequences before
 * its next write, and devices begin anew (docs/durability.md).
 */
import { isQimError, TAKE_OVER_TRIES_MAX } from '@qim/proto';
import { ErrorReply } from 'redis';
import { unavailable } from '../errors.js';
import { type Argument, isWrongType, type RedisConnection, type Reply } from './connection.js';
import { asArray, asText } from './replies.js';

/** `risen`: writes may have been lost. */
export interface TakeOver {
  readonly kind: 'noted' | 'risen';
  readonly epoch: number;
}

/** Runs take-over.lua on the partition's key. */
type RunTakeOver = (args: readonly Argument[]) => Promise<Reply>;

/**
 * `fresh`: nothing can have been written to the partition yet. Cost: 3; 4 on a Cluster.
 *
 * @throws StoreUnavailable
 */
export async function takeOver(connection: RedisConnection, partitionKey: string, fresh: boolean, run: RunTakeOver): Promise<TakeOver> {
  for (let tries = 0; tries < TAKE_OVER_TRIES_MAX; tries += 1) {
    const { runId, always, node } = await askServer(connection, partitionKey);
    const reply = await run([runId, always ? 'always' : '', node, fresh ? '1' : '0']);
    if (isWrongType(reply)) throw unavailable('the key of a partition has a wrong type', reply);
    const [kind, epoch] = asArray(reply).map(asText);
    if (kind === 'noted' || kind === 'risen') return { kind, epoch: Number(epoch) };
  }
  throw unavailable('the server changes all the time');
}

interface Server {
  readonly runId: string;
  /** Each write is on disk before its answer. */
  readonly always: boolean;
  /** Of a Cluster: id and config epoch. */
  readonly node: string;
}

async function askServer(connection: RedisConnection, at: string): Promise<Server> {
  const [info = null] = await connection.pipeline([['INFO']], { at });
  const of = (name: string): string => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(asText(info))?.[1] ?? '';
  const always = of('aof_enabled') === '1' && (await flushesAlways(connection, at));
  const node = of('redis_mode') === 'cluster' ? await nodeOf(connection, at) : '';
  return { runId: of('run_id'), always, node };
}

/** False as well when the server does not say. */
async function flushesAlways(connection: RedisConnection, at: string): Promise<boolean> {
  try {
    const [reply = null] = await connection.pipeline([['CONFIG', 'GET', 'appendfsync', 'no-appendfsync-on-rewrite']], { at });
    const values = asArray(reply).map(asText);
    const of = (name: string): string | undefined => values[values.indexOf(name) + 1];
    return of('appendfsync') === 'always' && of('no-appendfsync-on-rewrite') === 'no';
  } catch (error) {
    if (isQimError(error) && error.cause instanceof ErrorReply) return false;
    throw error;
  }
}

async function nodeOf(connection: RedisConnection, at: string): Promise<string> {
  const [id = null, info = null] = await connection.pipeline(
    [
      ['CLUSTER', 'MYID'],
      ['CLUSTER', 'INFO'],
    ],
    { at },
  );
  const configEpoch = /^cluster_my_epoch:(\d+)/m.exec(asText(info))?.[1];
  return configEpoch === undefined ? '' : `${asText(id)} ${configEpoch}`;
}
