/**
 * Which partitions are ours. A lease is trusted for two thirds of its time by our own clock, counted from before the call
 * that got or renewed it; the last third is for those who would take it over.
 *
 * Owners share the partitions: each says that it lives, sees how many others do, and aims at an equal share, rounded up.
 * What it has beyond its share it gives back once nothing of it is in hand; what it lacks it asks for. So a new owner gets
 * its part, and that of a dead one goes to those that live.
 *
 * A partition that is given up early is released before it is taken again, or its lease's whole time waited for: only a
 * new lease gets again what was read and not acknowledged under the old one.
 */
import type { OutboxLease } from '@qim/store';
import type { PushDeps } from './ports.js';

type Deps = Pick<PushDeps, 'outbox' | 'monotonicNow' | 'ownerId' | 'log' | 'observer'>;

interface Held {
  readonly lease: OutboxLease;
  readonly renewedAtMs: number;
}

export class Leases {
  readonly #deps: Deps;
  readonly #leaseMs: number;
  readonly #held = new Map<number, Held>();
  /** By our clock: the partition is not asked for before then. */
  readonly #notBeforeMs = new Map<number, number>();
  /** Asked for, and not yet answered: a second question would make a second lease and end the first. */
  readonly #asking = new Set<number>();
  /** Beyond our share: nothing is read of them any more. */
  readonly #leaving = new Set<number>();
  /** Live owners, as far as we know; 1 until the store has said otherwise. */
  #owners = 1;

  constructor(deps: Deps, leaseMs: number) {
    this.#deps = deps;
    this.#leaseMs = leaseMs;
  }

  /** Those that may be worked under now. */
  current(): OutboxLease[] {
    const held = [...this.#held.values()].filter((each) => this.#trusted(each)).map(({ lease }) => lease);
    return held.filter(({ partition }) => !this.#leaving.has(partition));
  }

  /** Ours, and trusted. */
  holds(partition: number): boolean {
    const held = this.#held.get(partition);
    return held !== undefined && this.#trusted(held);
  }

  /** Says that we live, and gives up or asks for partitions until we have our share. Never throws. */
  async balance(busy: (partition: number) => boolean): Promise<void> {
    const { outbox, ownerId, log } = this.#deps;
    try {
      this.#owners = await outbox.announceOwner(ownerId, this.#leaseMs);
    } catch (error) {
      log.warn({ err: error }, 'this owner could not make itself known');
    }
    this.#chooseLeaving(busy);
    await Promise.all([...this.#leaving].filter((partition) => !busy(partition)).map((partition) => this.#leave(partition)));
    await this.acquireMissing();
  }

  /** A queue of the partition has ended. */
  settled(partition: number, busy: boolean): void {
    if (!busy && this.#leaving.has(partition)) void this.#leave(partition);
  }

  owns(lease: OutboxLease): boolean {
    const held = this.#held.get(lease.partition);
    return held !== undefined && held.lease.token === lease.token && this.#trusted(held);
  }

  /** Asks for partitions until we have our share. Never throws: what was not got is asked for again by the next call. */
  async acquireMissing(): Promise<void> {
    const { outbox, monotonicNow } = this.#deps;
    const partitions = Array.from({ length: outbox.partitionCount }, (_, partition) => partition);
    const due = (partition: number): boolean => (this.#notBeforeMs.get(partition) ?? 0) <= monotonicNow();
    const missing = partitions.filter((partition) => !this.#held.has(partition) && !this.#asking.has(partition) && due(partition));
    while (missing.length > 0) {
      // Those that others have cost a question and count for nothing, so it goes on until enough were got.
      const lacking = this.#share() - this.#held.size - this.#asking.size;
      if (lacking <= 0) return;
      await this.#each(missing.splice(0, lacking), 'a partition could not be asked for', (partition) => this.#acquire(partition));
    }
  }

  /** Renews what we have, gives up what can no longer be trusted. Never throws. */
  async renewAll(): Promise<void> {
    await this.#each([...this.#held.values()], 'a lease could not be renewed', (held) => this.#renew(held));
  }

  /** Somebody else has it. */
  lost(lease: OutboxLease): void {
    if (this.#held.get(lease.partition)?.lease.token !== lease.token) return;
    this.#drop(lease.partition);
    this.#deps.observer?.leaseLost?.();
    this.#deps.log.warn({ partition: lease.partition }, 'a partition went to another owner');
  }

  /** Gives it back, so that the next owner, perhaps we ourselves, reads the unacknowledged entries again. Never throws. */
  async giveUp(lease: OutboxLease): Promise<void> {
    const { partition } = lease;
    if (this.#held.get(partition)?.lease.token !== lease.token) return;
    this.#drop(partition);
    this.#notBeforeMs.set(partition, this.#deps.monotonicNow() + this.#leaseMs);
    try {
      await this.#deps.outbox.release(lease);
      this.#notBeforeMs.delete(partition);
    } catch (error) {
      this.#deps.log.warn({ err: error, partition }, 'a lease could not be given back and will run out');
    }
  }

  /** At the end: what is free now need not be waited for. */
  async giveUpAll(): Promise<void> {
    const { outbox, ownerId, log } = this.#deps;
    await Promise.all([...this.#held.values()].map(({ lease }) => this.giveUp(lease)));
    try {
      await outbox.withdrawOwner(ownerId);
    } catch (error) {
      log.warn({ err: error }, 'the others will count this owner until its time is over');
    }
  }

  /** Partitions that each owner aims at. */
  #share(): number {
    return Math.ceil(this.#deps.outbox.partitionCount / this.#owners);
  }

  /** Idle ones first; one that is chosen stays so until it has left, or is needed after all. */
  #chooseLeaving(busy: (partition: number) => boolean): void {
    const surplus = this.#held.size - this.#share();
    for (const partition of [...this.#leaving].slice(Math.max(0, surplus))) this.#leaving.delete(partition);
    const staying = [...this.#held.keys()].filter((partition) => !this.#leaving.has(partition)).sort((a, b) => b - a);
    const idleFirst = [...staying.filter((partition) => !busy(partition)), ...staying.filter(busy)];
    for (const partition of idleFirst.slice(0, Math.max(0, surplus - this.#leaving.size))) this.#leaving.add(partition);
  }

  async #leave(partition: number): Promise<void> {
    const held = this.#held.get(partition);
    if (held !== undefined) await this.giveUp(held.lease);
    // Another is to have it: we ask again when we lack one, and not before it had the time to.
    this.#notBeforeMs.set(partition, this.#deps.monotonicNow() + this.#leaseMs);
  }

  #drop(partition: number): void {
    this.#held.delete(partition);
    this.#leaving.delete(partition);
    this.#deps.observer?.partitionsHeld?.(this.#held.size);
  }

  async #acquire(partition: number): Promise<void> {
    const { outbox, ownerId, monotonicNow } = this.#deps;
    this.#asking.add(partition);
    try {
      const renewedAtMs = monotonicNow();
      const lease = await outbox.acquire(partition, ownerId, this.#leaseMs);
      if (lease === undefined) return;
      this.#held.set(partition, { lease, renewedAtMs });
      this.#deps.observer?.partitionsHeld?.(this.#held.size);
    } finally {
      this.#asking.delete(partition);
    }
  }

  async #renew(held: Held): Promise<void> {
    const { lease } = held;
    if (!this.#trusted(held)) return this.giveUp(lease);
    const renewedAtMs = this.#deps.monotonicNow();
    const renewed = await this.#deps.outbox.renew(lease, this.#leaseMs);
    // It may have been given up while the call was under way.
    if (this.#held.get(lease.partition) !== held) return;
    if (renewed) this.#held.set(lease.partition, { lease, renewedAtMs });
    else this.lost(lease);
  }

  #trusted({ renewedAtMs }: Held): boolean {
    return this.#deps.monotonicNow() - renewedAtMs < (this.#leaseMs * 2) / 3;
  }

  /** All at once; one log line for however many failed. */
  async #each<T>(items: readonly T[], complaint: string, work: (item: T) => Promise<void>): Promise<void> {
    const results = await Promise.allSettled(items.map((item) => work(item)));
    const failures = results.filter((result) => result.status === 'rejected');
    if (failures.length > 0) this.#deps.log.warn({ err: failures[0]?.reason as unknown, count: failures.length }, complaint);
  }
}
