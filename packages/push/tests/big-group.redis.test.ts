/** A group as large as they get, on a real Redis, with half of its connected members on another process. */
import { GROUP_MEMBERS_MAX, HistoryVisibility, MEMBERS_PER_CALL_MAX, parseConversationId, parseUserId, type UserId } from '@qim/proto';
import { createPush } from '@qim/push';
import type { Store } from '@qim/store';
import { openRedisStore } from '@qim/store/redis';
import { type RedisServer, startRedis } from '@qim/store/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Device, device, ManualTime, openWorldOn, T0 } from './support.js';

/** The store's clock runs on while the test's stands still. */
const LEASE_MS = 600_000;
const DEVICES = 500;

let redis: RedisServer;
const stores: Store[] = [];
beforeAll(async () => {
  redis = await startRedis();
  for (let n = 0; n < 2; n += 1) stores.push(await openRedisStore(redis.url));
});
afterAll(async () => {
  for (const store of stores) await store.close();
  await redis.stop();
});

const soon = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { interval: 20, timeout: 60_000 });

/** Group, joins in as large steps as there are, and nothing delivered yet. */
async function fill(w: ReturnType<typeof openWorldOn>, users: readonly UserId[], conversationId: ReturnType<typeof parseConversationId>) {
  const [owner = parseUserId('nobody'), ...others] = users;
  const first = others.splice(0, MEMBERS_PER_CALL_MAX - 1);
  await w.group(owner, first, HistoryVisibility.All, conversationId);
  while (others.length > 0) {
    const userIds = others.splice(0, MEMBERS_PER_CALL_MAX);
    await w.control(owner, { kind: 2, userIds }, { conversationId, change: { kind: 'join', userIds } });
  }
  return owner;
}

test(`each of ${DEVICES} devices among ${GROUP_MEMBERS_MAX} members gets every message once, and all lists follow`, async () => {
  const [here, there] = stores as [Store, Store];
  const w = openWorldOn(here, new ManualTime(), () => ({ leaseMs: LEASE_MS }));
  const far = createPush({ ...w.deps, bus: there.bus, outbox: there.outbox, ownerId: 'two' });
  const conversationId = parseConversationId('g_big');
  const users = Array.from({ length: GROUP_MEMBERS_MAX }, (_, n) => parseUserId(`member-${n}`));
  const owner = await fill(w, users, conversationId);
  await w.push.start();
  await soon(async () => expect((await here.outbox.backlog()).entries).toBe(0));
  expect((await here.messages.readMembers(T0, conversationId)).size).toBe(GROUP_MEMBERS_MAX);

  // Some of them on every channel, on both processes; none of the two that have another conversation.
  const devices: Device[] = users.filter((_, n) => n % (GROUP_MEMBERS_MAX / DEVICES) === 1).map((userId) => device(userId));
  for (const [n, one] of devices.entries()) await (n % 2 === 0 ? w.push : far).subscribe(one);
  const last = users.at(-1) ?? owner;
  const other = parseConversationId('g_other');
  await w.group(owner, [last], undefined, other);
  await soon(async () => expect((await w.listOf(last))[0]).toBe(other));

  for (const each of devices) each.events.length = 0;
  const joins = GROUP_MEMBERS_MAX / MEMBERS_PER_CALL_MAX;
  const sent = Array.from({ length: 5 }, (_, n) => `messageCommitted ${joins + n + 1}`);
  for (const _ of sent) await w.commit(owner, { conversationId });
  for (const each of devices) await soon(() => expect(each.lines.filter((line) => line.startsWith('message'))).toEqual(sent));
  // One object for all devices of a process, although the members of a process are spread over all channels.
  for (const half of [0, 1]) {
    const firsts = devices.filter((_, n) => n % 2 === half).map(({ events }) => events[0]);
    expect(new Set(firsts).size).toBe(1);
  }
  await soon(async () => expect((await here.outbox.backlog()).entries).toBe(0));
  for (const userId of [owner, users[GROUP_MEMBERS_MAX / 2] ?? owner, last]) expect((await w.listOf(userId))[0]).toBe(conversationId);
  await w.push.stop();
  await far.stop();
});
