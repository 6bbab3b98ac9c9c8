/** Several processes over one store: who delivers what, and where it arrives. */
import { OUTBOX_LEASE_MS, parseConversationId, parseConversationSeq, parseTenantId, type UserId } from '@qim/proto';
import { createPush, type PushDeps } from '@qim/push';
import { unavailable } from '@qim/store';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ALICE, BOB, CAROL, device, G, openWorld, T0, T7, turns, type World } from './support.js';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const soon = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { interval: 2, timeout: 60_000 });

function world(...args: Parameters<typeof openWorld>): World {
  const w = openWorld(...args);
  stops.push(() => w.push.stop());
  return w;
}

/** Another process over the same store, with a log and counts of its own. */
function another(w: World, ownerId: string, over: (own: PushDeps) => Partial<PushDeps> = () => ({})) {
  const held: number[] = [];
  const own = { ...w.deps, ownerId, observer: { partitionsHeld: (count: number) => held.push(count) } };
  const push = createPush({ ...own, ...over(own) });
  stops.push(() => push.stop());
  return { push, held: () => held.at(-1) ?? 0 };
}

async function ticks(w: World, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    w.time.advance(OUTBOX_LEASE_MS / 3);
    await turns();
  }
}

/** Owners by partition, as the store sees them: who could not take it from them. */
async function free(w: World): Promise<number> {
  const { outbox } = w.store;
  let count = 0;
  for (let partition = 0; partition < outbox.partitionCount; partition += 1) {
    const lease = await outbox.acquire(partition, 'a third', 1_000);
    if (lease === undefined) continue;
    count += 1;
    await outbox.release(lease);
  }
  return count;
}

describe('events between processes', () => {
  test('every device of every member gets every message in order, wherever it is connected', async () => {
    const w = world();
    const there = another(w, 'two');
    const devices = [device(ALICE, 'pad'), device(BOB, 'phone'), device(BOB, 'pad')];
    const far = [device(ALICE, 'phone'), device(BOB, 'desk'), device(CAROL)];
    await w.connect(...devices);
    for (const one of far) await there.push.subscribe(one);
    await w.push.start();
    await w.group(ALICE, [BOB]);
    for (let n = 0; n < 20; n += 1) await w.commit(n % 2 === 0 ? ALICE : BOB);
    await w.drained();
    const expected = ['messageCommitted 1', 'conversationChanged', ...Array.from({ length: 20 }, (_, n) => `messageCommitted ${n + 2}`)];
    for (const each of [...devices, far[0], far[1]]) expect(each?.lines).toEqual(expected);
    expect(far[2]?.lines).toEqual([]);
  });

  test('the device that sent it gets none, on whichever process it is', async () => {
    const w = world();
    const there = another(w, 'two');
    const [sending, other] = [device(ALICE, 'phone'), device(ALICE, 'pad')];
    for (const one of [sending, other]) await there.push.subscribe(one);
    await w.group(ALICE, [BOB]);
    await w.commit(ALICE, { sender: { userId: ALICE, deviceId: sending.deviceId } });
    await w.push.start();
    await w.drained();
    expect(sending.lines).toEqual(['messageCommitted 1', 'conversationChanged']);
    expect(other.lines).toEqual(['messageCommitted 1', 'conversationChanged', 'messageCommitted 2']);
  });

  test('is one object for all devices of a process, and the same as the one that was published', async () => {
    const w = world();
    const there = another(w, 'two');
    const [here, far, further] = [device(BOB), device(BOB), device(CAROL)];
    await w.connect(here);
    for (const one of [far, further]) await there.push.subscribe(one);
    await w.group(ALICE, [BOB, CAROL]);
    await w.push.start();
    await w.drained();
    expect(far.events[0]).toBe(further.events[0]);
    expect(far.events).toEqual(here.events);
  });

  test('a read mark reaches the user’s devices on all processes, and nobody of another tenant', async () => {
    const w = world();
    const there = another(w, 'two');
    const [here, far, foreign] = [device(BOB), device(BOB), device(BOB, undefined, T7)];
    await w.connect(here);
    for (const one of [far, foreign]) await there.push.subscribe(one);
    there.push.announceRead(T0, BOB, G, parseConversationSeq(5));
    await turns();
    expect([here.lines, far.lines, foreign.lines]).toEqual([['readAdvanced 5'], ['readAdvanced 5'], []]);
    expect(here.events).toEqual(far.events);
  });

  test('a process that only listens delivers nothing of the outbox, and takes no part of it', async () => {
    const w = world();
    const listening = another(w, 'two');
    const bob = device(BOB);
    await listening.push.subscribe(bob);
    await w.group(ALICE, [BOB]);
    await turns();
    expect(bob.lines).toEqual([]);
    await w.push.start();
    await w.drained();
    expect(bob.lines).toHaveLength(2);
  });

  test('when the others cannot be reached nothing is acknowledged, and all is handed on again', async () => {
    let away = true;
    const w = world((own) => ({
      bus: {
        connect: (...args) => {
          const link = own.bus.connect(...args);
          return {
            ...link,
            alone: false,
            publish: async (events) => {
              if (away) throw unavailable('test');
              await link.publish(events);
            },
          };
        },
      },
    }));
    const there = another(w, 'two');
    const [here, far] = [device(BOB), device(BOB)];
    await w.connect(here);
    await there.push.subscribe(far);
    await w.group(ALICE, [BOB]);
    await w.push.start();
    await turns();
    expect([here.lines, far.lines, (await w.store.outbox.backlog()).entries]).toEqual([[], [], 1]);
    away = false;
    await soon(() => {
      w.time.advance(OUTBOX_LEASE_MS / 30);
      expect(far.lines).toEqual(['messageCommitted 1', 'conversationChanged']);
    });
    expect(here.lines).toEqual(far.lines);
  });

  test('an announcement that cannot be handed on reaches the devices here, and is counted', async () => {
    let lost = 0;
    const w = world((own) => ({
      observer: {
        announcementLost: () => {
          lost += 1;
        },
      },
      bus: {
        connect: (...args) => ({ ...own.bus.connect(...args), alone: false, publish: () => Promise.reject(unavailable('test')) }),
      },
    }));
    const bob = device(BOB);
    await w.connect(bob);
    await turns();
    lost = 0;
    w.push.announceRead(T0, BOB, G, parseConversationSeq(1));
    await turns();
    expect([bob.lines, lost]).toEqual([['readAdvanced 1'], 1]);
  });
});

describe('a subscription', () => {
  test('that is not confirmed is none, and leaves nothing behind', async () => {
    const w = world((own) => ({
      bus: { connect: (...args) => ({ ...own.bus.connect(...args), subscribe: () => Promise.reject(unavailable('test')) }) },
    }));
    const bob = device(BOB);
    await expect(w.push.subscribe(bob)).rejects.toMatchObject({ code: 'StoreUnavailable' });
    w.push.announceRead(T0, BOB, G, parseConversationSeq(1));
    expect(bob.lines).toEqual([]);
  });

  test('that was interrupted ends in resyncNeeded for each device that it served, and no other', async () => {
    let interrupt: (concerns: (tenantId: typeof T0, userId: UserId) => boolean) => void = () => expect.unreachable('it listens');
    let interruptions = 0;
    const w = world((own) => ({
      observer: {
        eventsInterrupted: () => {
          interruptions += 1;
        },
      },
      bus: {
        connect: (id, listener) => {
          interrupt = (concerns) => listener.interrupted(concerns);
          return own.bus.connect(id, listener);
        },
      },
    }));
    const [phone, pad, carol, foreign] = [device(BOB, 'phone'), device(BOB, 'pad'), device(CAROL), device(BOB, 'phone', T7)];
    await w.connect(phone, pad, carol, foreign);
    interrupt((tenantId, userId) => tenantId === T0 && userId === BOB);
    expect([phone, pad, carol, foreign].map(({ lines }) => lines)).toEqual([['resyncNeeded'], ['resyncNeeded'], [], []]);
    expect(interruptions).toBe(1);
  });

  test('hears nothing malformed: it is counted and dropped', async () => {
    let malformed = 0;
    const w = world(() => ({
      observer: {
        eventMalformed: () => {
          malformed += 1;
        },
      },
    }));
    const bob = device(BOB);
    await w.connect(bob);
    const foreign = w.store.bus.connect('foreign', { received: () => {}, malformed: () => {}, interrupted: () => {} });
    const text = (value: string) => new TextEncoder().encode(value);
    const headed = (head: string) => Uint8Array.from([0, 0, 0, head.length, ...text(head)]);
    const payloads = [
      text(''),
      text('garbage'),
      headed('{}'),
      headed('null'),
      headed('{"kind":"later"}'),
      headed('{"kind":"removed","conversationId":7}'),
      headed('{"kind":"messageCommitted"}'),
      headed('{"kind":"removed","conversationId":"g_room","except":["bob",""]}'),
      Uint8Array.from([...headed('{"kind":"resyncNeeded"}'), 1]),
    ];
    await foreign.publish(payloads.map((payload) => ({ tenantId: T0, userIds: [BOB], payload })));
    expect([bob.lines, malformed]).toEqual([[], payloads.length]);
    await foreign.publish([{ tenantId: T0, userIds: [BOB], payload: headed('{"kind":"resyncNeeded"}') }]);
    expect(bob.lines).toEqual(['resyncNeeded']);
  });
});

describe('the partitions', () => {
  test('are shared: a second process gets its part, and gives nobody more than that', async () => {
    const w = world();
    await w.push.start();
    const two = another(w, 'two');
    await two.push.start();
    expect(two.held()).toBe(0);
    await ticks(w, 3);
    expect(two.held()).toBe(w.store.outbox.partitionCount / 2);
    const three = another(w, 'three');
    await three.push.start();
    await ticks(w, 6);
    // Of four for three: two, and what is left.
    expect(two.held()).toBeLessThanOrEqual(2);
    expect(two.held() + three.held()).toBeGreaterThanOrEqual(2);
    expect(await free(w)).toBe(0);
  });

  test('of who stops go to the others at their next look, and of who dies when its leases are over', async () => {
    const w = world();
    const [two, three] = [another(w, 'two'), another(w, 'three', () => ({ sleep: () => new Promise(() => {}) }))];
    await w.push.start();
    await two.push.start();
    await ticks(w, 3);
    await w.push.stop();
    await ticks(w, 2);
    expect(two.held()).toBe(w.store.outbox.partitionCount);
    // It renews nothing from its start on: as good as dead.
    void three.push.start();
    stops.pop();
    stops.pop();
    stops.push(() => two.push.stop());
    await ticks(w, 2);
    expect(two.held()).toBe(w.store.outbox.partitionCount / 2);
    await ticks(w, 4);
    expect(two.held()).toBe(w.store.outbox.partitionCount);
  });

  test('that move while messages come lose none, and keep the order of each conversation', async () => {
    const w = world();
    const bob = device(BOB);
    await w.connect(bob);
    await w.push.start();
    const rooms = ['a', 'b', 'c', 'd'].map((name) => parseConversationId(`g_${name}`));
    for (const room of rooms) await w.group(ALICE, [BOB], undefined, room, T0);
    const two = another(w, 'two');
    const far = device(BOB);
    await two.push.subscribe(far);
    await two.push.start();
    for (let n = 0; n < 12; n += 1) {
      for (const conversationId of rooms) await w.commit(ALICE, { conversationId });
      await ticks(w, 1);
    }
    await w.drained();
    for (const one of [bob, far]) {
      for (const room of rooms) {
        const sequences = one.events.flatMap((event) =>
          event.kind === 'messageCommitted' && event.message.record.conversationId === room ? [event.message.record.conversationSeq] : [],
        );
        const firsts = sequences.filter((seq, i) => sequences.indexOf(seq) === i);
        expect(firsts.slice(-12)).toEqual(Array.from({ length: 12 }, (_, n) => n + 2));
      }
    }
    expect(two.held()).toBe(2);
  });

  test('have one leader at a time, who is not the one that only listens', async () => {
    const w = world();
    const listening = another(w, 'two');
    expect([w.push.leads(), listening.push.leads()]).toEqual([false, false]);
    await w.push.start();
    const three = another(w, 'three');
    await three.push.start();
    for (let n = 0; n < 6; n += 1) {
      await ticks(w, 1);
      expect([w.push.leads(), three.push.leads(), listening.push.leads()].filter(Boolean)).toHaveLength(1);
    }
    await w.push.stop();
    expect(w.push.leads()).toBe(false);
    await ticks(w, 2);
    expect(three.push.leads()).toBe(true);
  });

  test('are kept when the store does not say who else lives', async () => {
    const w = world((own) => ({ outbox: { ...own.outbox, announceOwner: () => Promise.reject(unavailable('test')) } }));
    const bob = device(BOB);
    await w.connect(bob);
    await w.push.start();
    await w.group(ALICE, [BOB]);
    await ticks(w, 2);
    expect(bob.lines).toHaveLength(2);
    expect(await free(w)).toBe(0);
  });
});

test('a tenant’s users are told apart on the bus', async () => {
  const w = world();
  const there = another(w, 'two');
  const [ours, theirs] = [device(BOB), device(BOB, undefined, parseTenantId(7))];
  for (const one of [ours, theirs]) await there.push.subscribe(one);
  await w.group(ALICE, [BOB], undefined, G, T7);
  await w.push.start();
  await w.drained();
  expect([ours.lines, theirs.lines]).toEqual([[], ['messageCommitted 1', 'conversationChanged']]);
});
