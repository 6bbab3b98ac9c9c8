/** Groups of many members: the live events come first, and one sweep at a time moves the conversation up in the lists. */
import {
  OUTBOX_BATCH_MAX,
  PUSH_ENTRIES_SWEEPING_MAX,
  PUSH_RETRY_MAX_MS,
  PUSH_SWEEPS_MAX,
  PUSH_TOUCH_AT_ONCE,
  PUSH_TOUCH_FIRST_MAX,
  parseConversationId,
  parseUserId,
  type UserId,
} from '@qim/proto';
import { createPush } from '@qim/push';
import { unavailable } from '@qim/store';
import { afterEach, expect, test, vi } from 'vitest';
import { ALICE, BOB, device, G, openWorld, turns, type World } from './support.js';

const worlds: World[] = [];
afterEach(async () => {
  for (const one of worlds.splice(0)) await one.push.stop();
});

const soon = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { interval: 10, timeout: 120_000 });
const people = (count: number): UserId[] => Array.from({ length: count }, (_, n) => parseUserId(`member-${n}`));

/** One that has the same partition as G, in the reference store. */
const NEIGHBOUR = parseConversationId('g_moor');

interface Touch {
  readonly conversationId: string;
  readonly members: number;
  readonly conversationSeq: number;
}

/** A world whose touches are written down, and wait while `gate` is closed or fail while it is broken. */
function gated() {
  const touches: Touch[] = [];
  const waiting: (() => void)[] = [];
  const gate = { state: 'open' as 'open' | 'closed' | 'broken', inFlight: 0, inFlightMax: 0 };
  const w = openWorld((own) => ({
    directory: {
      ...own.directory,
      touch: async (tenantId, conversationId, userIds, activity) => {
        gate.inFlight += 1;
        gate.inFlightMax = Math.max(gate.inFlightMax, gate.inFlight);
        try {
          if (gate.state === 'closed') await new Promise<void>((resolve) => waiting.push(resolve));
          if (gate.state === 'broken') throw unavailable('test');
          await own.directory.touch(tenantId, conversationId, userIds, activity);
          touches.push({ conversationId, members: userIds.length, conversationSeq: activity.conversationSeq });
        } finally {
          gate.inFlight -= 1;
        }
      },
    },
  }));
  worlds.push(w);
  const release = (state: 'open' | 'broken' = 'open') => {
    gate.state = state;
    for (const go of waiting.splice(0)) go();
  };
  return { w, gate, touches, waiting, release, backlog: async () => (await w.store.outbox.backlog()).entries };
}

/** The next owner, over the same gate. */
function gatedAgain({ w }: ReturnType<typeof gated>) {
  return { push: createPush({ ...w.deps, ownerId: 'next' }) };
}

/** A group with so many members, in everybody's list, and nothing left to deliver. */
async function bigGroup({ w, touches }: ReturnType<typeof gated>, count: number, conversationId = G): Promise<void> {
  await w.group(ALICE, [BOB, ...people(count - 2)], undefined, conversationId);
  await w.push.start();
  await w.drained();
  touches.length = 0;
}

test('up to PUSH_TOUCH_FIRST_MAX members the lists come before the events, and past it after them', async () => {
  for (const [count, before] of [
    [PUSH_TOUCH_FIRST_MAX, true],
    [PUSH_TOUCH_FIRST_MAX + 1, false],
  ] as const) {
    const world = gated();
    await bigGroup(world, count);
    const bob = device(BOB);
    await world.w.connect(bob);
    world.gate.state = 'closed';
    await world.w.commit(ALICE);
    await soon(() => expect(world.waiting).toHaveLength(1));
    await turns();
    expect(bob.lines).toEqual(before ? [] : ['messageCommitted 2']);
    world.release();
    await world.w.drained();
    expect(bob.lines).toEqual(['messageCommitted 2']);
    expect(world.touches.reduce((sum, { members }) => sum + members, 0)).toBe(count);
  }
});

test('an entry is acknowledged when all lists have it, in steps of PUSH_TOUCH_AT_ONCE', async () => {
  const world = gated();
  await bigGroup(world, 2 * PUSH_TOUCH_AT_ONCE + 1);
  world.gate.state = 'closed';
  await world.w.commit(ALICE);
  await soon(() => expect(world.waiting).toHaveLength(1));
  expect(await world.backlog()).toBe(1);
  world.release();
  await world.w.drained();
  expect(world.touches.map(({ members }) => members)).toEqual([PUSH_TOUCH_AT_ONCE, PUSH_TOUCH_AT_ONCE, 1]);
  expect((await world.w.listOf(parseUserId('member-998')))[0]).toBe(G);
});

test('a conversation has one sweep in flight, and what comes meanwhile is done by one more', async () => {
  const world = gated();
  await bigGroup(world, 300);
  const bob = device(BOB);
  await world.w.connect(bob);
  world.gate.state = 'closed';
  for (let n = 0; n < 10; n += 1) {
    await world.w.commit(ALICE);
    await turns();
  }
  // Live, all of them, while not one list was moved.
  expect(bob.lines).toEqual(Array.from({ length: 10 }, (_, n) => `messageCommitted ${n + 2}`));
  expect([world.waiting.length, world.touches.length, await world.backlog()]).toEqual([1, 0, 10]);
  world.release();
  await world.w.drained();
  expect(world.touches.map(({ conversationSeq }) => conversationSeq)).toEqual([2, 11]);
  expect(world.gate.inFlightMax).toBe(1);
});

test('other conversations of the partition are delivered and acknowledged while it is swept', async () => {
  const world = gated();
  await bigGroup(world, 300);
  await world.w.group(ALICE, [BOB], undefined, NEIGHBOUR);
  await world.w.drained();
  const bob = device(BOB);
  await world.w.connect(bob);
  world.gate.state = 'closed';
  await world.w.commit(ALICE);
  await soon(() => expect(world.waiting).toHaveLength(1));
  world.gate.state = 'open';
  for (let n = 0; n < 3; n += 1) await world.w.commit(ALICE, { conversationId: NEIGHBOUR });
  await soon(async () => expect(await world.backlog()).toBe(1));
  expect(bob.lines).toEqual(['messageCommitted 2', 'messageCommitted 2', 'messageCommitted 3', 'messageCommitted 4']);
  world.release();
  await world.w.drained();
});

test('PUSH_SWEEPS_MAX conversations are swept at once, and the next one when one is done', async () => {
  const world = gated();
  const rooms = Array.from({ length: PUSH_SWEEPS_MAX + 1 }, (_, n) => parseConversationId(`g_${n}`));
  for (const room of rooms) await world.w.group(ALICE, people(300), undefined, room);
  await world.w.push.start();
  await world.w.drained();
  expect(world.gate.inFlightMax).toBeLessThanOrEqual(PUSH_SWEEPS_MAX);
  world.gate.state = 'closed';
  for (const conversationId of rooms) await world.w.commit(ALICE, { conversationId });
  await soon(() => expect(world.waiting).toHaveLength(PUSH_SWEEPS_MAX));
  await turns();
  expect(world.waiting).toHaveLength(PUSH_SWEEPS_MAX);
  world.waiting.shift()?.();
  await soon(() => expect(world.waiting).toHaveLength(PUSH_SWEEPS_MAX));
  world.release();
  await world.w.drained();
  expect(world.gate.inFlightMax).toBe(PUSH_SWEEPS_MAX);
});

test('a store that does not answer is asked again, and what was moved is not moved again', async () => {
  const world = gated();
  await bigGroup(world, 2 * PUSH_TOUCH_AT_ONCE);
  world.gate.state = 'closed';
  await world.w.commit(ALICE);
  await soon(() => expect(world.waiting).toHaveLength(1));
  world.waiting.shift()?.();
  await soon(() => expect(world.waiting).toHaveLength(1));
  world.release('broken');
  await turns();
  expect(world.touches).toHaveLength(1);
  world.gate.state = 'open';
  await soon(async () => {
    world.w.time.advance(PUSH_RETRY_MAX_MS);
    expect(await world.backlog()).toBe(0);
  });
  expect(world.touches.map(({ members }) => members)).toEqual([PUSH_TOUCH_AT_ONCE, PUSH_TOUCH_AT_ONCE]);
});

test('a partition is read on until PUSH_ENTRIES_SWEEPING_MAX entries wait for sweeps', async () => {
  const world = gated();
  await bigGroup(world, 300);
  const bob = device(BOB);
  await world.w.connect(bob);
  world.gate.state = 'closed';
  const batches = PUSH_ENTRIES_SWEEPING_MAX / OUTBOX_BATCH_MAX + 2;
  await world.w.push.stop();
  for (let n = 0; n < batches * OUTBOX_BATCH_MAX; n += 1) await world.w.commit(ALICE);
  const next = gatedAgain(world);
  await next.push.subscribe(bob);
  await next.push.start();
  // One more than fits was read before it was known.
  await soon(() => expect(new Set(bob.lines).size).toBe((batches - 1) * OUTBOX_BATCH_MAX));
  await turns();
  expect(new Set(bob.lines).size).toBe((batches - 1) * OUTBOX_BATCH_MAX);
  world.release();
  await soon(() => expect(new Set(bob.lines).size).toBe(batches * OUTBOX_BATCH_MAX));
  await world.w.drained();
  await next.push.stop();
});

test('at a stop what was swept is acknowledged, and what the store did not take is left to the next owner', async () => {
  const world = gated();
  await bigGroup(world, 300);
  world.gate.state = 'closed';
  await world.w.commit(ALICE);
  await soon(() => expect(world.waiting).toHaveLength(1));
  const stopped = world.w.push.stop();
  world.release('broken');
  await stopped;
  expect(await world.backlog()).toBe(1);
  world.gate.state = 'open';
  const next = gatedAgain(world);
  await next.push.start();
  await world.w.drained();
  expect(world.touches).toEqual([{ conversationId: G, members: 300, conversationSeq: 2 }]);
  await next.push.stop();
});
