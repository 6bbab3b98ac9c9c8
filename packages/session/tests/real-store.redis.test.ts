import { openRedisStore } from '@qim/store/redis';
import { DAMAGE_KINDS, startRedis } from '@qim/store/testing';
import { sessionOverRealStore } from './scenarios.js';

sessionOverRealStore('Redis', DAMAGE_KINDS, async () => {
  const redis = await startRedis();
  const store = await openRedisStore(redis.url);
  return {
    store,
    location: { store: redis.url, data: '' },
    async close() {
      await store.close();
      await redis.stop();
    },
  };
});
