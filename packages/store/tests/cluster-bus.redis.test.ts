/** The bus on a Cluster: events reach whoever listens on any node, and a channel that moved is heard again. */
import { LEGACY_TENANT_ID, parseUserId, type UserId } from '@qim/proto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { EventChannels } from '../src/redis/event-channels.js';
import { openRedisStore } from '../src/redis/open.js';
import type { Store } from '../src/store.js';
import { type RedisCluster, startRedisCluster } from '../src/testing/redis-cluster.js';

const T0 = LEGACY_TENANT_ID;
const WAIT = { timeout: 50_000, interval: 20 };
const channels = new EventChannels(64, 0);
const people = Array.from({ length: 24 }, (_, n) => parseUserId(`user-${n}`));
let cluster: RedisCluster;
let stores: readonly Store[];

beforeAll(async () => {
  cluster = await startRedisCluster({ nodeTimeoutMs: 2_500 });
});
afterAll(() => cluster.stop());
beforeEach(async () => {
  stores = await Promise.all([openRedisStore(cluster.url), openRedisStore(cluster.url)]);
});
afterEach(async () => {
  for (const store of stores) await store.close();
});

function processes() {
  const [here, there] = stores;
  if (here === undefined || there === undefined) throw new Error('there are two');
  const heard: string[] = [];
  const interrupted: ((tenantId: typeof T0, userId: UserId) => boolean)[] = [];
  const listener = there.bus.connect('there', {
    received: ({ payload }) => heard.push(new TextDecoder().decode(payload)),
    malformed: () => {},
    interrupted: (concerns) => interrupted.push(concerns),
  });
  const speaker = here.bus.connect('here', { received: () => {}, malformed: () => {}, interrupted: () => {} });
  const tell = (userId: UserId, text: string) =>
    speaker.publish([{ tenantId: T0, userIds: [userId], payload: new TextEncoder().encode(text) }]);
  return { listener, heard, interrupted, tell };
}

test('users on channels of every node are told of theirs', async () => {
  const { listener, heard, tell } = processes();
  await Promise.all(people.map((userId) => listener.subscribe(T0, userId)));
  const owners = await Promise.all(people.map((userId) => cluster.ownerOf(channels.of(T0, userId))));
  expect(new Set(owners)).toEqual(new Set(cluster.primaries));
  await Promise.all(people.map((userId) => tell(userId, userId)));
  await vi.waitFor(() => expect(heard.toSorted()).toEqual(people.toSorted()), WAIT);
});

test('a channel whose slot moves is heard again at its new owner, and who listened is told', async () => {
  const { listener, heard, interrupted, tell } = processes();
  const [alice] = people;
  if (alice === undefined) throw new Error('there are people');
  await listener.subscribe(T0, alice);
  const channel = channels.of(T0, alice);
  const owner = await cluster.ownerOf(channel);
  const other = cluster.primaries.find((node) => node !== owner);
  if (other === undefined) throw new Error('there are others');
  await cluster.moveSlot(channel, other);
  await vi.waitFor(() => expect(interrupted.some((concerns) => concerns(T0, alice))).toBe(true), WAIT);
  await tell(alice, 'after the move');
  await vi.waitFor(() => expect(heard).toContain('after the move'), WAIT);
  expect(String(await cluster.command(other, 'PUBSUB', 'SHARDCHANNELS'))).toContain(channel);
});

test('a node that dies is replaced, and those who listened there are told once its replica is heard', async () => {
  const { listener, heard, interrupted, tell } = processes();
  await Promise.all(people.map((userId) => listener.subscribe(T0, userId)));
  const [alice] = people;
  if (alice === undefined) throw new Error('there are people');
  const channel = channels.of(T0, alice);
  const owner = await cluster.ownerOf(channel);
  await owner.kill();
  await vi.waitFor(() => expect(interrupted.some((concerns) => concerns(T0, alice))).toBe(true), WAIT);
  await vi.waitFor(async () => {
    await tell(alice, 'after the death');
    expect(heard).toContain('after the death');
  }, WAIT);
  expect(await cluster.ownerOf(channel)).not.toBe(owner);
});
