/** A redis-server of its own that appends each write before it answers; its restart is a kill without notice. */
import { DEDUP_WEEK_MS } from '@qim/proto';
import { systemNow } from '../../clock.js';
import { skipSequencesRedis } from '../../redis/damage.js';
import { openRedisStore } from '../../redis/open.js';
import { startRedis } from '../redis-server.js';
import type { Subject } from './subject.js';

export async function redisSubject(): Promise<Subject> {
  const server = await startRedis({ appendonly: 'always' });
  // In the middle of a week: what happens at its end, the clock's steps bring about.
  let offsetMs = DEDUP_WEEK_MS / 2 - (systemNow() % DEDUP_WEEK_MS);
  const open = () => openRedisStore(server.url, { clockOffsetMs: () => offsetMs, partitions: 4 });
  let store = await open();
  return {
    name: 'redis',
    get store() {
      return store;
    },
    now: () => systemNow() + offsetMs,
    advance(ms) {
      offsetMs += ms;
    },
    skipSequences: (target, count) => skipSequencesRedis(server.url, target, count),
    async restart(meanwhile) {
      const ended = meanwhile().catch(() => {});
      await server.kill();
      await ended;
      await server.restart();
      await store.close();
      store = await open();
    },
    async close() {
      await store.close();
      await server.stop();
    },
  };
}
