import { openRedisStore } from '@qim/store/redis';
import { startRedis } from '@qim/store/testing';
import { writerOverRealStore } from './scenarios.js';

writerOverRealStore('Redis', async () => {
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
