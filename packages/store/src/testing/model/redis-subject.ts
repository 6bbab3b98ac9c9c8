/** A redis-server of its own, or a Cluster, that appends each write before it answers; its restart is a kill without notice. */
import { DEDUP_WEEK_MS } from '@qim/proto';
import { systemNow } from '../../clock.js';
import { skipSequencesRedis } from '../../redis/damage.js';
import { openRedisStore } from '../../redis/open.js';
import { startRedisCluster } from '../redis-cluster.js';
import { startRedis } from '../redis-server.js';
import type { Subject } from './subject.js';

/** Where the store lies. */
interface Place {
  readonly name: string;
  readonly url: string;
  kill(): Promise<unknown>;
  restart(): Promise<unknown>;
  stop(): Promise<void>;
}

export async function redisSubject(): Promise<Subject> {
  const server = await startRedis({ appendonly: 'always' });
  return subjectOn({
    name: 'redis',
    url: server.url,
    kill: () => server.kill(),
    restart: () => server.restart(),
    stop: () => server.stop(),
  });
}

/** Three primaries, which die and come back together. */
export async function clusterSubject(): Promise<Subject> {
  const cluster = await startRedisCluster({ appendonly: 'always', replicas: 0 });
  const { primaries, url } = cluster;
  return subjectOn({
    name: 'redis cluster',
    url,
    kill: () => Promise.all(primaries.map((node) => node.kill())),
    restart: () => Promise.all(primaries.map((node) => node.restart())),
    stop: () => cluster.stop(),
  });
}

async function subjectOn(place: Place): Promise<Subject> {
  // In the middle of a week: what happens at its end, the clock's steps bring about.
  let offsetMs = DEDUP_WEEK_MS / 2 - (systemNow() % DEDUP_WEEK_MS);
  const open = () => openRedisStore(place.url, { clockOffsetMs: () => offsetMs, partitions: 4 });
  let store = await open();
  return {
    name: place.name,
    get store() {
      return store;
    },
    now: () => systemNow() + offsetMs,
    advance(ms) {
      offsetMs += ms;
    },
    skipSequences: (target, count) => skipSequencesRedis(place.url, target, count),
    async restart(meanwhile) {
      const ended = meanwhile().catch(() => {});
      await place.kill();
      await ended;
      await place.restart();
      await store.close();
      store = await open();
    },
    async close() {
      await store.close();
      await place.stop();
    },
  };
}
