/** The webhook's queue on a real Redis. */
import { startRedis } from '@qim/store/testing';
import { onTestFinished, test } from 'vitest';
import { openStore } from '../src/open-store.js';
import { minuteWithoutReceiver } from './webhook-minute.js';

test('a receiver that is down for a minute under load: Redis loses nothing, and keeps the order', async () => {
  const redis = await startRedis({ appendonly: 'always' });
  onTestFinished(() => redis.stop());
  await minuteWithoutReceiver(await openStore({ store: new URL(redis.url), data: '/nowhere' }, { as: 'server' }), 30);
});
