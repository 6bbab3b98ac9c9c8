/**
 * Cases: what the webhook is to be told waits in order, is given to it once, and belongs to the owner of the partition.
 *
 * The partitions belong to the whole store: these cases run one after the other, and each begins with `emptied`.
 */
import { expect } from 'vitest';
import type { HookJob, HookQueue } from '../../hooks/hook-queue.js';
import type { Outbox, OutboxEntry, OutboxLease } from '../../outbox/outbox.js';
import type { Fixture } from './fixture.js';
import type { Cases } from './suite.js';

const LONG_MS = 600_000;
const KEEP = 1_000;
const NEVER = new AbortController().signal;

async function leasesOf(outbox: Outbox): Promise<OutboxLease[]> {
  const leases: OutboxLease[] = [];
  for (let partition = 0; partition < outbox.partitionCount; partition += 1) {
    const lease = await outbox.acquire(partition, 'hooks', LONG_MS);
    if (lease === undefined) throw new Error(`partition ${partition} is held by another`);
    leases.push(lease);
  }
  return leases;
}

/** A queue with nothing left of other cases, one conversation with `count` messages, and the lease of its partition. */
async function emptied(fixture: Fixture, count: number) {
  const { outbox, hooks } = fixture.store;
  const leases = await leasesOf(outbox);
  for (const lease of leases) {
    const { jobs } = await hooks.read(lease.partition, undefined, KEEP);
    await hooks.remove(
      lease,
      jobs.map(({ entryId }) => entryId),
    );
  }
  const alice = fixture.user('alice');
  const chat = fixture.direct(alice, alice);
  await chat.sayTimes(alice, count);
  const entries: OutboxEntry[] = [];
  while (of(entries, chat.conversationId).length < count) entries.push(...(await outbox.read(leases, 5_000, NEVER)).entries);
  const mine = of(entries, chat.conversationId);
  const lease = leases.find(({ partition }) => partition === mine[0]?.partition);
  if (lease === undefined) throw new Error('the entries have a partition');
  return { outbox, hooks, lease, mine, release: () => Promise.all(leases.map((each) => outbox.release(each))) };
}

const of = (entries: readonly OutboxEntry[], id: string) => entries.filter(({ conversationId }) => conversationId === id);
const sequences = (jobs: readonly HookJob[]) => jobs.map(({ conversationSeq }) => conversationSeq);
const all = async (hooks: HookQueue, { partition }: OutboxLease) => (await hooks.read(partition, undefined, KEEP)).jobs;

export const hookQueue: Cases = {
  async 'entries wait in the order of their commits, with ids and nothing said, and are read page by page'(fixture) {
    const { hooks, lease, mine, release } = await emptied(fixture, 5);
    expect(await hooks.append(lease, mine.slice(0, 3), KEEP)).toBe(true);
    expect(await hooks.append(lease, mine.slice(3), KEEP)).toBe(true);
    const { partition } = lease;
    const first = await hooks.read(partition, undefined, 2);
    expect(sequences(first.jobs)).toEqual([1, 2]);
    const second = await hooks.read(partition, first.last, 9);
    expect(sequences(second.jobs)).toEqual([3, 4, 5]);
    expect(await hooks.read(partition, second.last, 9)).toEqual({ jobs: [], poison: [], last: undefined });
    const { committedAtMs, ...entry } = first.jobs[0] ?? { committedAtMs: 0 };
    expect(entry).toEqual(mine[0]);
    expect(committedAtMs).toBeGreaterThan(0);
    expect(await hooks.backlog()).toMatchObject({ waiting: 5 });
    await release();
  },

  async 'an entry is taken once, also after it was told and removed'(fixture) {
    const { hooks, lease, mine, release } = await emptied(fixture, 3);
    await hooks.append(lease, mine.slice(0, 2), KEEP);
    const told = (await all(hooks, lease)).map(({ entryId }) => entryId);
    expect(await hooks.remove(lease, told)).toBe(true);
    expect(await hooks.append(lease, mine, KEEP)).toBe(true);
    expect(sequences(await all(hooks, lease))).toEqual([3]);
    await release();
  },

  async 'one without the lease changes nothing'(fixture) {
    const { hooks, lease, mine, release } = await emptied(fixture, 2);
    await hooks.append(lease, mine.slice(0, 1), KEEP);
    const stale = { partition: lease.partition, token: lease.token - 1 };
    const before = await hooks.backlog();
    expect(await hooks.append(stale, mine, KEEP)).toBe(false);
    expect(await hooks.remove(stale, [mine[0]?.entryId ?? ''])).toBe(false);
    expect(await hooks.setAside(stale, mine[0]?.entryId ?? '', 'a reason')).toBe(false);
    expect(await hooks.backlog()).toMatchObject({ waiting: before.waiting, dead: before.dead });
    await release();
  },

  async 'one that is given up is a dead letter, with its reason, and the rest stays'(fixture) {
    const { hooks, lease, mine, release } = await emptied(fixture, 3);
    const before = (await hooks.backlog()).dead;
    await hooks.append(lease, mine, KEEP);
    expect(await hooks.setAside(lease, mine[1]?.entryId ?? '', 'refused 422')).toBe(true);
    expect(sequences(await all(hooks, lease))).toEqual([1, 3]);
    expect((await hooks.backlog()).dead).toBe(before + 1);
    const [dead] = (await hooks.dead(9)).filter(({ about }) => about?.conversationId === mine[1]?.conversationId);
    expect(dead).toMatchObject({ entryId: mine[1]?.entryId, reason: 'refused 422', about: { conversationSeq: 2 } });
    expect(dead?.setAsideAtMs).toBeGreaterThan(0);
    await release();
  },

  async 'as many as are kept wait; one more makes the oldest a dead letter'(fixture) {
    const { hooks, lease, mine, release } = await emptied(fixture, 6);
    const before = (await hooks.backlog()).dead;
    await hooks.append(lease, mine.slice(0, 4), 4);
    expect(await hooks.backlog()).toMatchObject({ waiting: 4, dead: before });
    await hooks.append(lease, mine, 4);
    expect(sequences(await all(hooks, lease))).toEqual([3, 4, 5, 6]);
    const dead = (await hooks.dead(100)).filter(({ about }) => about?.conversationId === mine[0]?.conversationId);
    expect(dead.map(({ reason, about }) => [reason, about?.conversationSeq])).toEqual([
      ['queueFull', 2],
      ['queueFull', 1],
    ]);
    await release();
  },

  async 'who takes the partition over finds what waits'(fixture) {
    const { outbox, hooks, lease, mine, release } = await emptied(fixture, 2);
    await hooks.append(lease, mine, KEEP);
    await release();
    const next = await outbox.acquire(lease.partition, 'another', LONG_MS);
    if (next === undefined) throw new Error('the partition is free');
    expect(sequences(await all(hooks, next))).toEqual([1, 2]);
    expect(await hooks.remove(lease, [mine[0]?.entryId ?? ''])).toBe(false);
    expect(await hooks.remove(next, [mine[0]?.entryId ?? ''])).toBe(true);
    expect(sequences(await all(hooks, next))).toEqual([2]);
    await outbox.release(next);
  },
};

/** For a backend that survives. */
export const hookRestart: Cases = {
  async 'what waits, what was given up, and what was ever taken are as they were'(fixture) {
    const { hooks, lease, mine, release } = await emptied(fixture, 4);
    await hooks.append(lease, mine.slice(0, 3), KEEP);
    await hooks.remove(lease, [mine[0]?.entryId ?? '']);
    await hooks.setAside(lease, mine[1]?.entryId ?? '', 'refused 400');
    await release();
    await fixture.backend.reopen?.();
    const { outbox, hooks: later } = fixture.store;
    const next = await outbox.acquire(lease.partition, 'hooks', LONG_MS);
    if (next === undefined) throw new Error('the partition is free');
    expect(sequences(await all(later, next))).toEqual([3]);
    await later.append(next, mine, KEEP);
    expect(sequences(await all(later, next))).toEqual([3, 4]);
    const [dead] = (await later.dead(100)).filter(({ about }) => about?.conversationId === mine[1]?.conversationId);
    expect(dead).toMatchObject({ reason: 'refused 400', about: { conversationSeq: 2 } });
    await outbox.release(next);
  },
};
