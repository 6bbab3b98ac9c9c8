/** Every kind of damage on Redis. */
import { DAMAGE_KINDS } from '../src/testing/damage-kinds.js';
import { REDIS_OWN } from './damage-matrix-redis.js';
import { damageMatrix } from './damage-matrix-suite.js';
import { RedisBackend } from './redis-backend.js';
import { tamperRedis } from './tamper.js';

damageMatrix({
  name: 'Redis',
  damageKinds: DAMAGE_KINDS,
  own: REDIS_OWN,
  async open() {
    const backend = await RedisBackend.open();
    return { backend, tamper: await tamperRedis(backend.server.url, async () => Date.now()) };
  },
});
