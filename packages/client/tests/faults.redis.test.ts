import { startRedis } from '@qim/store/testing';
import { startRealServer } from '../../../tools/testing/real-server.js';
import { faultSuite } from './support/faults.js';

faultSuite('Redis', 600, async () => {
  const redis = await startRedis();
  const server = await startRealServer({}, { store: redis.url });
  const end = async (): Promise<void> => {
    await server.end();
    await redis.stop();
  };
  return { url: server.url, data: server.data, errors: server.errors, start: server.start, stop: server.stop, end };
});
