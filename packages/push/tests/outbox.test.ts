import {
  OUTBOX_LEASE_MS,
  PUSH_READ_WAIT_MS,
  PUSH_RETRY_MAX_MS,
  PUSH_RETRY_MIN_MS,
  PUSH_TRIES_MAX,
  parseConversationId,
  SEQ_ZERO,
} from '@qim/proto';
import { createPush } from '@qim/push';
import { corrupt, type OutboxEntry, unavailable } from '@qim/store';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ALICE, BOB, device, G, openWorld, T0, turns, type World } from './support.js';

const worlds: World[] = [];
function world(...args: Parameters<typeof openWorld>): World {
  const one = openWorld(...args);
  worlds.push(one);
  return one;
}
afterEach(async () => {
  for (const one of worlds.splice(0)) await one.push.stop();
});

const soon = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { interval: 2, timeout: 60_000 });

describe('a store that does not answer', () => {
  test('is asked again after a growing, bounded wait, and nothing is lost, doubled or reordered', async () => {
    let failing = true;
    let tries = 0;
    const w = world((own) => ({
      messages: {
        ...own.messages,
        readMessages: async (...args) => {
          tries += 1;
          if (failing) throw unavailable('test');
          return own.messages.readMessages(...args);
        },
      },
    }));
    const bob = device(BOB);
    await w.connect(bob);
    await w.group(ALICE, [BOB]);
    for (let n = 0; n < 3; n += 1) await w.commit(ALICE);
    await w.push.start();
    for (let wait = PUSH_RETRY_MIN_MS, n = 1; n <= 10; n += 1, wait = Math.min(wait * 2, PUSH_RETRY_MAX_MS)) {
      await soon(() => expect(tries).toBe(n));
      // The clock has not reached the next try, and none is made.
      w.time.advance(wait - 1);
      await turns();
      expect(tries).toBe(n);
      w.time.advance(1);
    }
    failing = false;
    await soon(() => {
      w.time.advance(PUSH_RETRY_MAX_MS);
      expect(bob.lines).toEqual([
        'messageCommitted 1',
        'conversationChanged',
        'messageCommitted 2',
        'messageCommitted 3',
        'messageCommitted 4',
      ]);
    });
    await w.drained();
    expect(w.setAside).toEqual([]);
  });

  test('for one message is not overtaken by a later one of the same conversation', async () => {
    let silent = true;
    const w = world((own) => ({
      messages: {
        ...own.messages,
        readMessages: async (...args) => {
          if (silent && args[2].some((seq) => seq === 1)) throw unavailable('test');
          return own.messages.readMessages(...args);
        },
      },
    }));
    const bob = device(BOB);
    await w.connect(bob);
    await w.group(ALICE, [BOB]);
    await w.push.start();
    await soon(() => expect(w.time.sleepers).toBe(2));
    await w.commit(ALICE);
    await turns();
    expect(bob.lines).toEqual([]);
    silent = false;
    await soon(() => {
      w.time.advance(PUSH_RETRY_MIN_MS);
      expect(bob.lines).toEqual(['messageCommitted 1', 'conversationChanged', 'messageCommitted 2']);
    });
  });

  test('for one conversation does not stop the others', async () => {
    const stuck = parseConversationId('g_stuck');
    const w = world((own) => ({
      messages: {
        ...own.messages,
        readMembers: async (tenantId, conversationId) => {
          if (conversationId === stuck) throw unavailable('test');
          return own.messages.readMembers(tenantId, conversationId);
        },
      },
    }));
    const bob = device(BOB);
    await w.connect(bob);
    await w.group(ALICE, [BOB], 1, stuck);
    await w.group(ALICE, [BOB]);
    await w.push.start();
    await soon(() => expect(bob.lines).toEqual(['messageCommitted 1', 'conversationChanged']));
    expect((await w.store.outbox.backlog()).entries).toBe(1);
  });

  test('when delivered entries cannot be acknowledged, they are acknowledged later and not delivered again', async () => {
    let failing = true;
    const w = world((own) => ({
      outbox: {
        ...own.outbox,
        acknowledge: async (...args) => {
          if (failing) throw unavailable('test');
          return own.outbox.acknowledge(...args);
        },
      },
    }));
    const bob = device(BOB);
    await w.connect(bob);
    await w.group(ALICE, [BOB]);
    await w.push.start();
    await soon(() => expect(w.time.sleepers).toBe(2));
    failing = false;
    w.time.advance(PUSH_RETRY_MIN_MS);
    await w.drained();
    expect(bob.lines).toEqual(['messageCommitted 1', 'conversationChanged']);
  });

  test('when the read itself failed, entries that went out with the lost answer are read again', async () => {
    let lose = true;
    const w = world((own) => ({
      outbox: {
        ...own.outbox,
        read: async (...args) => {
          const batch = await own.outbox.read(...args);
          if (lose && batch.entries.length > 0) {
            lose = false;
            throw unavailable('the answer was lost');
          }
          return batch;
        },
      },
    }));
    const bob = device(BOB);
    await w.connect(bob);
    await w.group(ALICE, [BOB]);
    await w.push.start();
    await soon(() => {
      w.time.advance(PUSH_RETRY_MIN_MS);
      expect(bob.lines).toEqual(['messageCommitted 1', 'conversationChanged']);
    });
    expect(lose).toBe(false);
  });

  test('and cannot even take the lease back: the lease runs out first, then the entries are read again', async () => {
    let lose = true;
    const w = world((own) => ({
      outbox: {
        ...own.outbox,
        read: async (...args) => {
          const batch = await own.outbox.read(...args);
          if (lose && batch.entries.length > 0) throw unavailable('the answer was lost');
          return batch;
        },
        release: async () => {
          lose = false;
          throw unavailable('test');
        },
      },
    }));
    const bob = device(BOB);
    await w.connect(bob);
    await w.group(ALICE, [BOB]);
    await w.push.start();
    await soon(() => expect(lose).toBe(false));
    w.time.advance(OUTBOX_LEASE_MS - 1);
    await turns();
    expect(bob.lines).toEqual([]);
    await soon(() => {
      w.time.advance(OUTBOX_LEASE_MS / 3);
      expect(bob.lines).toEqual(['messageCommitted 1', 'conversationChanged']);
    });
  });
});

describe('damage', () => {
  const damagedAt = (sequence: number) => (own: World['deps']) => ({
    messages: {
      ...own.messages,
      readMessages: vi.fn(async (...args: Parameters<typeof own.messages.readMessages>) => {
        const [tenantId, conversationId, sequences] = args;
        const met = sequences.find((seq) => seq === sequence);
        if (met !== undefined) throw corrupt(tenantId, conversationId, 'recordUnreadable', met);
        return own.messages.readMessages(...args);
      }),
    },
  });

  test('a damaged record is tried PUSH_TRIES_MAX times, set aside with its reason, and the rest goes on in order', async () => {
    const w = world(damagedAt(3));
    const bob = device(BOB);
    await w.connect(bob);
    await w.group(ALICE, [BOB]);
    for (let n = 0; n < 4; n += 1) await w.commit(ALICE);
    await w.push.start();
    await soon(() => {
      w.time.advance(PUSH_RETRY_MIN_MS);
      expect(w.setAside).toEqual(['CorruptRecord recordUnreadable']);
    });
    await w.drained();
    expect(bob.lines).toEqual([
      'messageCommitted 1',
      'conversationChanged',
      'messageCommitted 2',
      'conversationChanged',
      'messageCommitted 4',
      'messageCommitted 5',
    ]);
    // Whole passes, then one entry at a time.
    const calls = vi.mocked(w.deps.messages.readMessages).mock.calls.map(([, , sequences]) => sequences.length);
    expect(calls).toEqual([...Array.from({ length: PUSH_TRIES_MAX }, () => 5), 1, 1, 1, 1, 1]);
    expect((await w.store.outbox.backlog()).poison).toBe(1);
    expect(w.logged.filter((line) => line.includes('set aside'))).toHaveLength(1);
  });

  test('when the store falls silent while the damaged one is looked for, the order is kept all the same', async () => {
    let silent = true;
    const w = world((own) => ({
      messages: {
        ...own.messages,
        readMessages: async (...args) => {
          const [tenantId, conversationId, sequences] = args;
          if (sequences.some((seq) => seq === 2)) throw corrupt(tenantId, conversationId, 'recordUnreadable', sequences[0]);
          if (silent && sequences.length === 1 && sequences[0] === 3) throw unavailable('test');
          return own.messages.readMessages(...args);
        },
      },
    }));
    const bob = device(BOB);
    await w.connect(bob);
    await w.group(ALICE, [BOB]);
    for (let n = 0; n < 3; n += 1) await w.commit(ALICE);
    await w.push.start();
    await soon(() => {
      w.time.advance(PUSH_RETRY_MIN_MS);
      expect(w.setAside).toHaveLength(1);
    });
    await turns();
    expect(bob.lines).toEqual(['messageCommitted 1', 'conversationChanged', 'conversationChanged']);
    silent = false;
    await soon(() => {
      w.time.advance(PUSH_RETRY_MAX_MS);
      expect(bob.lines.slice(3)).toEqual(['messageCommitted 3', 'messageCommitted 4']);
    });
  });

  test('damage that heals before the last try costs nothing', async () => {
    let tries = 0;
    const w = world((own) => ({
      messages: {
        ...own.messages,
        readMessages: async (...args) => {
          tries += 1;
          if (tries < PUSH_TRIES_MAX) throw corrupt(args[0], args[1], 'bodyUnreadable', args[2][0]);
          return own.messages.readMessages(...args);
        },
      },
    }));
    const bob = device(BOB);
    await w.connect(bob);
    await w.group(ALICE, [BOB]);
    await w.push.start();
    await soon(() => {
      w.time.advance(PUSH_RETRY_MIN_MS);
      expect(bob.lines).toHaveLength(2);
    });
    expect(w.setAside).toEqual([]);
  });

  test('damaged members set every entry of that conversation aside and no other', async () => {
    const other = parseConversationId('g_other');
    const w = world((own) => ({
      messages: {
        ...own.messages,
        readMembers: async (tenantId, conversationId) => {
          if (conversationId === G) throw corrupt(tenantId, conversationId, 'memberUnreadable');
          return own.messages.readMembers(tenantId, conversationId);
        },
      },
    }));
    const bob = device(BOB);
    await w.connect(bob);
    await w.group(ALICE, [BOB]);
    await w.commit(ALICE);
    await w.group(ALICE, [BOB], 1, other);
    await w.push.start();
    await soon(() => {
      w.time.advance(PUSH_RETRY_MIN_MS);
      expect(w.setAside).toEqual(['CorruptRecord memberUnreadable', 'CorruptRecord memberUnreadable']);
    });
    await w.drained();
    expect(bob.lines).toEqual(['messageCommitted 1', 'conversationChanged']);
  });

  test('an entry that the outbox itself could not understand is set aside', async () => {
    const w = world((own) => ({
      outbox: {
        ...own.outbox,
        read: async (...args) => {
          const { entries } = await own.outbox.read(...args);
          return { entries: [], poison: entries.map(({ partition, entryId }) => ({ partition, entryId, reason: 'entry unreadable' })) };
        },
      },
    }));
    await w.group(ALICE, [BOB]);
    await w.push.start();
    await soon(() => expect(w.setAside).toEqual(['entry unreadable']));
    expect(await w.store.outbox.backlog()).toMatchObject({ entries: 0, poison: 1 });
  });

  test('a fault of our own sets the entry aside without telling what it was', async () => {
    const w = world((own) => ({
      directory: {
        ...own.directory,
        touch: async () => {
          throw new TypeError('secret of alice');
        },
      },
    }));
    await w.group(ALICE, [BOB]);
    await w.push.start();
    await soon(() => {
      w.time.advance(PUSH_RETRY_MIN_MS);
      expect(w.setAside).toEqual(['Internal']);
    });
  });

  test('a message that retention took before its delivery is acknowledged and means nothing more', async () => {
    const w = world((own) => ({
      messages: { ...own.messages, readMessages: async (_tenant, _conversation, sequences) => sequences.map(() => undefined) },
    }));
    const bob = device(BOB);
    await w.connect(bob);
    await w.group(ALICE, [BOB]);
    await w.push.start();
    await w.drained();
    expect(bob.lines).toEqual([]);
    expect(w.setAside).toEqual([]);
  });
});

describe('owners', () => {
  test('another takes over what the first had not acknowledged, and nothing before it stops', async () => {
    const w = world();
    const bob = device(BOB);
    await w.connect(bob);
    await w.push.start();
    const second = openSecond(w, 'two');
    const far = device(BOB);
    await second.push.subscribe(far);
    await w.group(ALICE, [BOB]);
    await w.drained();
    expect([bob.lines.length, far.lines.length]).toEqual([2, 2]);
    await w.push.stop();
    await w.commit(ALICE);
    await second.push.start();
    await soon(() => expect(far.lines.slice(2)).toEqual(['messageCommitted 2']));
    expect(bob.lines).toEqual(far.lines);
    await second.push.stop();
  });

  test('an owner that cannot renew stops by its own clock at two thirds of the lease', async () => {
    const delivered: OutboxEntry[] = [];
    const w = world((own) => ({
      outbox: {
        ...own.outbox,
        renew: async () => {
          throw unavailable('test');
        },
        release: async () => {
          throw unavailable('test');
        },
      },
      observer: { entryDelivered: (kind) => delivered.push(kind as never) },
    }));
    await w.group(ALICE, [BOB]);
    await w.push.start();
    await w.drained();
    expect(delivered).toHaveLength(1);
    w.time.advance((OUTBOX_LEASE_MS * 2) / 3 - 1);
    await w.commit(ALICE);
    await w.drained();
    expect(delivered).toHaveLength(2);
    w.time.advance(1);
    await w.commit(ALICE);
    await turns();
    expect(delivered).toHaveLength(2);
    expect((await w.store.outbox.backlog()).entries).toBe(1);
    // The store would still have let it.
    const lease = await w.store.outbox.acquire(0, 'other', 1);
    expect(lease).toBeUndefined();
  });

  test('a renewal that comes after the lease was doubted does not keep what was dropped meanwhile', async () => {
    let silent = true;
    const renewals: (() => void)[] = [];
    const w = world((own) => ({
      messages: {
        ...own.messages,
        readMembers: async (...args) => (silent ? Promise.reject(unavailable('test')) : own.messages.readMembers(...args)),
      },
      outbox: {
        ...own.outbox,
        renew: async (...args) => {
          if (silent) await new Promise<void>((resolve) => renewals.push(resolve));
          return own.outbox.renew(...args);
        },
      },
    }));
    const bob = device(BOB);
    await w.connect(bob);
    await w.group(ALICE, [BOB]);
    await w.push.start();
    await soon(() => expect(w.time.sleepers).toBe(2));
    w.time.advance(OUTBOX_LEASE_MS / 3);
    await soon(() => expect(renewals).toHaveLength(w.store.outbox.partitionCount));
    // The next pass comes when two thirds are over, and finds that it may not work; then the renewals are answered.
    w.time.advance(OUTBOX_LEASE_MS / 3);
    await turns();
    silent = false;
    for (const answer of renewals) answer();
    await turns();
    // Within the time that the renewed leases are trusted for: no later tick may be what helps.
    w.time.advance(PUSH_READ_WAIT_MS);
    await soon(() => expect(bob.lines).toEqual(['messageCommitted 1', 'conversationChanged']));
  });

  test('a lease that was lost ends the delivery at once, and what was read comes again to the next owner', async () => {
    let steal = true;
    const w = world((own) => ({
      outbox: {
        ...own.outbox,
        acknowledge: async (lease, ids) => {
          if (!steal) return own.outbox.acknowledge(lease, ids);
          steal = false;
          await own.outbox.release(lease);
          return own.outbox.acknowledge(lease, ids);
        },
      },
    }));
    const bob = device(BOB);
    await w.connect(bob);
    await w.group(ALICE, [BOB]);
    await w.push.start();
    await soon(() => {
      w.time.advance(OUTBOX_LEASE_MS / 3);
      // At least once on the wire.
      expect(bob.lines).toEqual(['messageCommitted 1', 'conversationChanged', 'messageCommitted 1', 'conversationChanged']);
    });
    await w.drained();
    expect(w.logged).toContain('a partition went to another owner');
  });

  test('a stop hands on what was read, gives the leases back, and takes nothing new', async () => {
    const w = world();
    const bob = device(BOB);
    await w.connect(bob);
    await w.push.start();
    await w.group(ALICE, [BOB]);
    await w.push.stop();
    for (let partition = 0; partition < w.store.outbox.partitionCount; partition += 1) {
      expect(await w.store.outbox.acquire(partition, 'other', 1_000)).toBeDefined();
    }
    const before = bob.lines.length;
    await w.commit(ALICE);
    await turns();
    expect(bob.lines).toHaveLength(before);
  });

  test('a stop does not wait out a retry, and leaves the entry to the next owner', async () => {
    const w = world((own) => ({
      messages: {
        ...own.messages,
        readMembers: async () => {
          throw unavailable('test');
        },
      },
    }));
    await w.group(ALICE, [BOB]);
    await w.push.start();
    await soon(() => expect(w.time.sleepers).toBe(2));
    await w.push.stop();
    expect((await w.store.outbox.backlog()).entries).toBe(1);
    const next = openSecond(w, 'next');
    const bob = device(BOB);
    await next.push.subscribe(bob);
    await next.push.start();
    await w.drained();
    expect(bob.lines).toHaveLength(2);
    await next.push.stop();
  });

  test('a start while the store is away goes on by itself once it answers', async () => {
    let away = true;
    const w = world((own) => ({
      outbox: {
        ...own.outbox,
        acquire: async (...args) => {
          if (away) throw unavailable('test');
          return own.outbox.acquire(...args);
        },
      },
    }));
    const bob = device(BOB);
    await w.connect(bob);
    await w.push.start();
    await w.group(ALICE, [BOB]);
    away = false;
    await soon(() => {
      w.time.advance(OUTBOX_LEASE_MS / 3);
      expect(bob.lines).toHaveLength(2);
    });
  });

  test('the lag from the commit is told for messages', async () => {
    const lags: (number | undefined)[] = [];
    const w = world(() => ({
      observer: {
        entryDelivered: (_kind, lagMs) => {
          lags.push(lagMs);
        },
      },
    }));
    await w.group(ALICE, [BOB]);
    w.time.advance(7);
    await w.push.start();
    await w.drained();
    expect(lags).toEqual([7]);
    expect((await w.store.messages.readConversation(T0, G, ALICE)).facts?.lastSequence).toBeGreaterThan(SEQ_ZERO);
  });
});

/** Another process over the same store. */
function openSecond(w: World, ownerId: string) {
  const { store, time } = w;
  const push = createPush({
    messages: store.messages,
    directory: store.directory,
    users: store.users,
    outbox: store.outbox,
    bus: store.bus,
    now: time.now,
    monotonicNow: time.now,
    ownerId,
    log: w.deps.log,
    sleep: time.sleep,
  });
  return { push };
}
