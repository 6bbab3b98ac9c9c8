/**
 * Tools for tests of whole servers: a Redis of their own, holes, and damage in a store. Never for production data.
 *
 * The conformance suites are not exported from here: they need a test runner, and the acceptance run has none. The
 * backends' tests import them from `conformance/`.
 */
import { assert } from '@qim/proto';
import type { ConversationTarget, DamageKind, DamageTarget, StoreLocation } from './damage-kinds.js';

export type { CommandLog } from './command-log.js';
export {
  CONVERSATION_DAMAGE_KINDS,
  type ConversationTarget,
  DAMAGE_KINDS,
  type DamageKind,
  type DamageTarget,
  RECORD_DAMAGE_KINDS,
  REDIS_ONLY_DAMAGE_KINDS,
  type StoreLocation,
} from './damage-kinds.js';
export { type Random, SEEDS, seededRandom } from './random.js';
export { rawRedis } from './raw-redis.js';
export { type RedisCluster, type RedisClusterOptions, startRedisCluster } from './redis-cluster.js';
export { type RedisServer, type RedisServerOptions, startRedis } from './redis-server.js';
export { commitRequest, directCreate } from './requests.js';

/** The next `count` sequences of the conversation will not be given: a hole follows its newest record. */
export async function skipSequences(location: StoreLocation, target: ConversationTarget & { readonly count: number }): Promise<void> {
  if (isEmbedded(location)) {
    const { skipSequencesEmbedded } = await import('../embedded/damage.js');
    return skipSequencesEmbedded(location.data, target, target.count);
  }
  const { skipSequencesRedis } = await import('../redis/damage.js');
  return skipSequencesRedis(location.store, target, target.count);
}

/** Damages one thing in a store, while a server may have it open. */
export async function damage(location: StoreLocation, target: DamageTarget, kind: DamageKind): Promise<void> {
  if (isEmbedded(location)) {
    const { damageEmbedded } = await import('../embedded/damage.js');
    return damageEmbedded(location.data, target, kind);
  }
  const { damageRedis } = await import('../redis/damage.js');
  return damageRedis(location.store, target, kind);
}

function isEmbedded({ store }: StoreLocation): boolean {
  if (store === 'embedded') return true;
  assert(/^redis(\+cluster)?:\/\//.test(store), 'a store is `embedded` or a URL of a Redis or of a Redis Cluster');
  return false;
}
