/** At start: which server takes the writes of each partition, so that a later change is noticed. */
import type { RedisConnection } from './connection.js';
import { DEPLOYMENT_KEY, type KeySpace } from './keys.js';
import type { Scripts } from './scripts.js';

/** Of the deployment: since when every partition has its note. One without it has lost it. */
const NOTED_FIELD = 'notedAtMs';

/**
 * Until all partitions of a deployment have a note, one that has none is fresh. `nowMs`: Unix milliseconds.
 * Cost: 5, the first time 6. @throws StoreUnavailable
 */
export async function noteServers(connection: RedisConnection, scripts: Scripts, keys: KeySpace, nowMs: number): Promise<void> {
  const fresh = (await connection.call('HGET', DEPLOYMENT_KEY, NOTED_FIELD)) === null;
  await Promise.all(keys.allPartitions().map((key) => scripts.takeOver(key, fresh)));
  if (fresh) await connection.call('HSETNX', DEPLOYMENT_KEY, NOTED_FIELD, String(nowMs));
}
