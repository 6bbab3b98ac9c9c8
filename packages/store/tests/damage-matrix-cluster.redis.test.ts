/** Every kind of damage on a Cluster. */
import { DAMAGE_KINDS } from '../src/testing/damage-kinds.js';
import { ClusterBackend } from './cluster-backend.js';
import { REDIS_OWN } from './damage-matrix-redis.js';
import { damageMatrix } from './damage-matrix-suite.js';
import { tamperRedis } from './tamper.js';

damageMatrix({
  name: 'Redis Cluster',
  damageKinds: DAMAGE_KINDS,
  own: REDIS_OWN,
  async open() {
    const backend = await ClusterBackend.open({}, { replicas: 0 });
    return { backend, tamper: await tamperRedis(backend.url, async () => Date.now()) };
  },
});
