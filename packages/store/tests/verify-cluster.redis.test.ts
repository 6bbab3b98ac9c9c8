/** What verification and repair find and do on a Cluster, whose keys lie on several servers. */
import { afterAll } from 'vitest';
import { type RedisCluster, startRedisCluster } from '../src/testing/redis-cluster.js';
import { onCluster } from './verify-backends.js';
import { damageMatrix } from './verify-matrix.js';
import { runCases } from './verify-run.js';

let cluster: Promise<RedisCluster> | undefined;
const CLUSTER = onCluster(() => {
  cluster ??= startRedisCluster({ replicas: 0 });
  return cluster;
});

damageMatrix(CLUSTER);
runCases(CLUSTER);

afterAll(async () => (await cluster)?.stop());
