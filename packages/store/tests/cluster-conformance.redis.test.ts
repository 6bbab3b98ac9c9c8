/** The store on a Redis Cluster keeps the contracts, as that on a single Redis does. */
import { afterAll } from 'vitest';
import { conformance, restartConformance } from '../src/testing/conformance/index.js';
import { DAMAGE_KINDS } from '../src/testing/damage-kinds.js';
import { type RedisCluster, startRedisCluster } from '../src/testing/redis-cluster.js';
import { ClusterBackend } from './cluster-backend.js';

let cluster: Promise<RedisCluster> | undefined;

const backend = {
  name: 'redis cluster',
  damageKinds: DAMAGE_KINDS,
  open: async () => {
    cluster ??= startRedisCluster();
    return ClusterBackend.on(await cluster);
  },
};

conformance(backend);
restartConformance(backend);

afterAll(async () => (await cluster)?.stop());
