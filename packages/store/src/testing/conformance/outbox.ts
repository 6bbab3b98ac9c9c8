/**
 * Cases: what was committed is delivered at least once, in order, by one owner at a time.
 *
 * The partitions belong to the whole store: these cases run one after the other, and each begins with `drained`.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type ConversationId, OUTBOX_POISON_READ_MAX } from '@qim/proto';
import { expect, vi } from 'vitest';
import { nextTurn } from '../../clock.js';
import type { Outbox, OutboxEntry, OutboxLease } from '../../outbox/outbox.js';
import { type Fixture, TENANT, TITLE } from './fixture.js';
import type { Cases } from './suite.js';

const LONG_MS = 600_000;
/** Real time on a backend whose leases run by its own clock. */
const SHORT_MS = 60;
const NEVER = new AbortController().signal;

/** What nothing holds is gone afterwards. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // What a turn has looked at weakly is held to its end.
  for (let turns = 0; turns < 3; turns += 1) {
    await nextTurn();
    collect();
  }
}

async function acquireAll(outbox: Outbox, owner: string, leaseMs = LONG_MS): Promise<OutboxLease[]> {
  const leases: OutboxLease[] = [];
  for (let partition = 0; partition < outbox.partitionCount; partition += 1) {
    const lease = await outbox.acquire(partition, owner, leaseMs);
    if (lease === undefined) throw new Error(`partition ${partition} is held by another`);
    leases.push(lease);
  }
  return leases;
}

async function acknowledge(outbox: Outbox, leases: readonly OutboxLease[], entries: readonly OutboxEntry[]): Promise<boolean> {
  let held = true;
  for (const lease of leases) {
    const mine = entries.filter(({ partition }) => partition === lease.partition).map(({ entryId }) => entryId);
    if (mine.length > 0) held = (await outbox.acknowledge(lease, mine)) && held;
  }
  return held;
}

/** All that can be read without waiting. */
async function readAll(outbox: Outbox, leases: readonly OutboxLease[]): Promise<OutboxEntry[]> {
  const all: OutboxEntry[] = [];
  for (;;) {
    const { entries, poison } = await outbox.read(leases, 0, NEVER);
    expect(poison).toEqual([]);
    if (entries.length === 0) return all;
    all.push(...entries);
  }
}

/** An outbox with nothing left of other cases, and leases over all of it that run long. */
async function drained(fixture: Fixture, owner = 'first') {
  const { outbox } = fixture.store;
  const leases = await acquireAll(outbox, owner);
  await acknowledge(outbox, leases, await readAll(outbox, leases));
  return { outbox, leases };
}

async function releaseAll(outbox: Outbox, leases: readonly OutboxLease[]): Promise<void> {
  for (const lease of leases) await outbox.release(lease);
}

/** Leases of another owner, once the present ones have run out. */
async function takeOver(fixture: Fixture, owner: string): Promise<OutboxLease[]> {
  return vi.waitFor(
    async () => {
      await fixture.backend.advance(SHORT_MS);
      return acquireAll(fixture.store.outbox, owner);
    },
    { timeout: 10_000, interval: 20 },
  );
}

const of = (entries: readonly OutboxEntry[], chat: ConversationId) =>
  entries.filter(({ conversationId }) => conversationId === chat).map(({ kind, conversationSeq }) => [kind, conversationSeq]);

export const entries: Cases = {
  async 'each write of a conversation has an entry, in its order, with ids and nothing said'(fixture) {
    const { outbox, leases } = await drained(fixture);
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chat = await fixture.group(alice, []);
    await chat.join(alice, bob);
    const request = chat.request(bob, 'a secret');
    await chat.messages.commit(request);
    await chat.messages.commit(request);
    await chat.edit(3, 'another secret');
    await chat.say(alice, TITLE);
    await chat.leave(bob, bob);
    await expect(chat.say(bob)).rejects.toMatchObject({ code: 'NotMember' });
    const read = await readAll(outbox, leases);
    expect(of(read, chat.conversationId)).toEqual([
      ['created', 1],
      ['membership', 2],
      ['committed', 3],
      ['amended', 3],
      ['committed', 4],
      ['membership', 5],
    ]);
    expect(JSON.stringify(read)).not.toContain('secret');
    const [first] = read;
    expect(first).toEqual({
      ...{ partition: first?.partition, entryId: first?.entryId, kind: 'created' },
      ...{ tenantId: TENANT, conversationId: chat.conversationId, conversationSeq: 1 },
    });
    await acknowledge(outbox, leases, read);
    await releaseAll(outbox, leases);
  },

  async 'entries of a partition are unique and come in the order of their commits'(fixture) {
    const { outbox, leases } = await drained(fixture);
    const alice = fixture.user('alice');
    const chats = Array.from({ length: 20 }, () => fixture.direct(alice, fixture.user('bob')));
    await Promise.all(chats.map((chat) => chat.sayTimes(alice, 20)));
    const read = await readAll(outbox, leases);
    expect(read).toHaveLength(400);
    expect(new Set(read.map(({ partition, entryId }) => `${partition} ${entryId}`)).size).toBe(400);
    for (const chat of chats) {
      expect(of(read, chat.conversationId).map(([, conversationSeq]) => conversationSeq)).toEqual(
        Array.from({ length: 20 }, (_, i) => i + 1),
      );
    }
    await acknowledge(outbox, leases, read);
    await releaseAll(outbox, leases);
  },

  async 'what was read is not read again by the same owner, and what is acknowledged is gone'(fixture) {
    const { outbox, leases } = await drained(fixture);
    const alice = fixture.user('alice');
    await fixture.direct(alice, alice).sayTimes(alice, 3);
    const read = await readAll(outbox, leases);
    expect(read).toHaveLength(3);
    expect(await readAll(outbox, leases)).toEqual([]);
    expect((await outbox.backlog()).entries).toBe(3);
    expect(await acknowledge(outbox, leases, read)).toBe(true);
    expect(await acknowledge(outbox, leases, read)).toBe(true);
    expect(await outbox.backlog()).toMatchObject({ entries: 0, oldestMs: 0 });
    await releaseAll(outbox, leases);
    const later = await acquireAll(outbox, 'later');
    expect(await readAll(outbox, later)).toEqual([]);
    await releaseAll(outbox, later);
  },

  async 'an entry that cannot be handled is set aside, and the rest goes on'(fixture) {
    const { outbox, leases } = await drained(fixture);
    const before = (await outbox.backlog()).poison;
    const alice = fixture.user('alice');
    const chat = fixture.direct(alice, alice);
    await chat.sayTimes(alice, 3);
    const read = await readAll(outbox, leases);
    const bad = read[1];
    const lease = leases.find(({ partition }) => partition === bad?.partition);
    if (bad === undefined || lease === undefined) throw new Error('three entries were read');
    expect(await outbox.setAside(lease, bad.entryId, 'a reason')).toBe(true);
    expect(await outbox.backlog()).toMatchObject({ entries: 2, poison: before + 1 });
    const aside = (await outbox.poison(OUTBOX_POISON_READ_MAX)).find(({ entryId }) => entryId === bad.entryId);
    const { partition, entryId, ...about } = bad;
    expect(aside).toEqual({ partition, entryId, reason: 'a reason', setAsideAtMs: expect.any(Number), about });
    expect(await outbox.poison(1)).toHaveLength(1);
    await releaseAll(outbox, leases);
    const later = await acquireAll(outbox, 'later');
    const again = await readAll(outbox, later);
    expect(of(again, chat.conversationId)).toEqual([
      ['created', 1],
      ['committed', 3],
    ]);
    await acknowledge(outbox, later, again);
    await releaseAll(outbox, later);
  },

  async 'the backlog tells how many wait'(fixture) {
    const { outbox, leases } = await drained(fixture);
    const alice = fixture.user('alice');
    await fixture.direct(alice, alice).sayTimes(alice, 4);
    await fixture.backend.advance(3_000);
    const { entries: waiting, oldestMs } = await outbox.backlog();
    expect(waiting).toBe(4);
    expect(oldestMs).toBeGreaterThanOrEqual(0);
    await acknowledge(outbox, leases, await readAll(outbox, leases));
    await releaseAll(outbox, leases);
  },
};

export const leasing: Cases = {
  async 'a partition has one owner, until it gives it back'(fixture) {
    const { outbox, leases } = await drained(fixture, 'one');
    expect(await outbox.acquire(0, 'two', LONG_MS)).toBeUndefined();
    const [held] = leases;
    if (held === undefined) throw new Error('there is a partition');
    expect(await outbox.renew(held, LONG_MS)).toBe(true);
    await releaseAll(outbox, leases);
    expect(await outbox.renew(held, LONG_MS)).toBe(false);
    const taken = await outbox.acquire(0, 'two', LONG_MS);
    expect(taken?.token).toBeGreaterThan(held.token);
    // Giving back what one no longer has takes nothing from the new owner.
    await outbox.release(held);
    expect(await outbox.acquire(0, 'three', LONG_MS)).toBeUndefined();
    if (taken !== undefined) await outbox.release(taken);
  },

  async 'of many that ask at once one gets the partition'(fixture) {
    const { outbox, leases } = await drained(fixture);
    await releaseAll(outbox, leases);
    const asked = await Promise.all(Array.from({ length: 8 }, (_, i) => outbox.acquire(0, `owner ${i}`, LONG_MS)));
    const got = asked.filter((lease) => lease !== undefined);
    expect(got).toHaveLength(1);
    await releaseAll(outbox, got);
  },

  async 'a new owner gets what the last one had read first, and then the newer'(fixture) {
    const { outbox, leases } = await drained(fixture);
    await releaseAll(outbox, leases);
    const old = await acquireAll(outbox, 'old', SHORT_MS);
    const alice = fixture.user('alice');
    const chat = fixture.direct(alice, alice);
    await chat.sayTimes(alice, 3);
    await readAll(outbox, old);
    await chat.sayTimes(alice, 2);
    const taken = await takeOver(fixture, 'new');
    for (const [i, lease] of taken.entries()) expect(lease.token).toBeGreaterThan(old[i]?.token ?? 0);
    const read = await readAll(outbox, taken);
    expect(of(read, chat.conversationId).map(([, conversationSeq]) => conversationSeq)).toEqual([1, 2, 3, 4, 5]);
    await acknowledge(outbox, taken, read);
    await releaseAll(outbox, taken);
  },

  async 'an owner that lost its lease can acknowledge, renew and set aside nothing'(fixture) {
    const { outbox, leases } = await drained(fixture);
    await releaseAll(outbox, leases);
    const old = await acquireAll(outbox, 'old', SHORT_MS);
    const alice = fixture.user('alice');
    const chat = fixture.direct(alice, alice);
    await chat.sayTimes(alice, 3);
    // Its lease may have run out already on a slow machine: then it reads nothing, and the new owner all.
    const read = await readAll(outbox, old);
    const taken = await takeOver(fixture, 'new');
    const again = await readAll(outbox, taken);
    expect(again).toHaveLength(3);
    expect(await acknowledge(outbox, old, again)).toBe(false);
    const lease = old.find(({ partition }) => partition === again[0]?.partition);
    if (lease === undefined) throw new Error('the partition was held');
    expect(await outbox.renew(lease, LONG_MS)).toBe(false);
    expect(await outbox.setAside(lease, again[0]?.entryId ?? '', 'late')).toBe(false);
    expect((await outbox.backlog()).entries).toBe(3);
    expect(read.every(({ entryId }) => again.some((entry) => entry.entryId === entryId))).toBe(true);
    expect(await acknowledge(outbox, taken, again)).toBe(true);
    await releaseAll(outbox, taken);
  },
};

export const owners: Cases = {
  async 'an owner counts from when it says that it lives, once, until its time is over or it withdraws'(fixture) {
    const { outbox } = fixture.store;
    const before = (await outbox.announceOwner('counted', LONG_MS)) - 1;
    expect(await outbox.announceOwner('counted', LONG_MS)).toBe(before + 1);
    expect(await outbox.announceOwner('another', SHORT_MS)).toBe(before + 2);
    await vi.waitFor(
      async () => {
        await fixture.backend.advance(SHORT_MS);
        expect(await outbox.announceOwner('counted', LONG_MS)).toBe(before + 1);
      },
      { timeout: 10_000, interval: 20 },
    );
    await outbox.withdrawOwner('counted');
    await outbox.withdrawOwner('never announced');
    expect(await outbox.announceOwner('last', LONG_MS)).toBe(before + 1);
    await outbox.withdrawOwner('last');
  },

  async 'to be counted gives no partition, and not to be takes none'(fixture) {
    const { outbox, leases } = await drained(fixture);
    await outbox.announceOwner('counted', LONG_MS);
    expect(await outbox.acquire(0, 'counted', LONG_MS)).toBeUndefined();
    await outbox.withdrawOwner('counted');
    expect(await outbox.renew(leases[0] ?? { partition: 0, token: 0 }, LONG_MS)).toBe(true);
    await releaseAll(outbox, leases);
  },
};

export const waiting: Cases = {
  async 'a read that finds nothing ends with its time, whatever is collected meanwhile'(fixture) {
    const { outbox, leases } = await drained(fixture);
    const reading = outbox.read(leases, SHORT_MS, NEVER);
    await collectGarbage();
    expect(await reading).toEqual({ entries: [], poison: [] });
    await releaseAll(outbox, leases);
  },

  async 'a read waits for the next entry'(fixture) {
    const { outbox, leases } = await drained(fixture);
    const reading = outbox.read(leases, 10_000, NEVER);
    const alice = fixture.user('alice');
    const chat = fixture.direct(alice, alice);
    await chat.say(alice);
    const { entries: read } = await reading;
    expect(of(read, chat.conversationId)).toEqual([['created', 1]]);
    await acknowledge(outbox, leases, read);
    await releaseAll(outbox, leases);
  },

  async 'a read that finds nothing ends with its time, and with its signal'(fixture) {
    const { outbox, leases } = await drained(fixture);
    expect(await outbox.read(leases, 0, NEVER)).toEqual({ entries: [], poison: [] });
    expect(await outbox.read(leases, 30, NEVER)).toEqual({ entries: [], poison: [] });
    const stop = new AbortController();
    const reading = outbox.read(leases, 600_000, stop.signal);
    stop.abort();
    expect(await reading).toEqual({ entries: [], poison: [] });
    expect(await outbox.read(leases, 600_000, AbortSignal.abort())).toEqual({ entries: [], poison: [] });
    await releaseAll(outbox, leases);
  },

  async 'an aborted read loses nothing'(fixture) {
    const { outbox, leases } = await drained(fixture);
    const alice = fixture.user('alice');
    const chat = fixture.direct(alice, alice);
    const seen: OutboxEntry[] = [];
    for (let n = 1; n <= 10; n += 1) {
      const stop = new AbortController();
      const reading = outbox.read(leases, 10_000, stop.signal);
      const sent = chat.say(alice);
      stop.abort();
      seen.push(...(await reading).entries);
      await sent;
    }
    seen.push(...(await readAll(outbox, leases)));
    if (seen.length < 10) {
      // What an aborted read had taken is pending: the next owner gets it.
      await releaseAll(outbox, leases);
      const later = await acquireAll(outbox, 'later');
      seen.push(...(await readAll(outbox, later)));
      await acknowledge(outbox, later, seen);
      await releaseAll(outbox, later);
    } else {
      await acknowledge(outbox, leases, seen);
      await releaseAll(outbox, leases);
    }
    expect(new Set(of(seen, chat.conversationId).map(([, conversationSeq]) => conversationSeq)).size).toBe(10);
  },
};
