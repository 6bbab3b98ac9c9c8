/**
 * Which partitions are ours. A lease is trusted for two thirds of its time by our own clock, counted from before the call
 * that got or renewed it; the last third is for those who would take it over.
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

  constructor(deps: Deps, leaseMs: number) {
    this.#deps = deps;
    this.#leaseMs = leaseMs;
  }

  /** Those that may be worked under now. */
  current(): OutboxLease[] {
    return [...this.#held.values()].filter((held) => this.#trusted(held)).map(({ lease }) => lease);
  }

  owns(lease: OutboxLease): boolean {
    const held = this.#held.get(lease.partition);
    return held !== undefined && held.lease.token === lease.token && this.#trusted(held);
  }

  /** Asks for every partition that we do not have. Never throws: what was not got is asked for again by the next call. */
  async acquireMissing(): Promise<void> {
    const { outbox, monotonicNow } = this.#deps;
    const partitions = Array.from({ length: outbox.partitionCount }, (_, partition) => partition);
    const due = (partition: number): boolean => (this.#notBeforeMs.get(partition) ?? 0) <= monotonicNow();
    const missing = partitions.filter((partition) => !this.#held.has(partition) && !this.#asking.has(partition) && due(partition));
    await this.#each(missing, 'a partition could not be asked for', (partition) => this.#acquire(partition));
  }

  /** Renews what we have, gives up what can no longer be trusted. Never throws. */
  async renewAll(): Promise<void> {
    await this.#each([...this.#held.values()], 'a lease could not be renewed', (held) => this.#renew(held));
  }

  /** Somebody else has it. */
  lost(lease: OutboxLease): void {
    if (this.#held.get(lease.partition)?.lease.token !== lease.token) return;
    this.#held.delete(lease.partition);
    this.#deps.observer?.leaseLost?.();
    this.#deps.log.warn({ partition: lease.partition }, 'a partition went to another owner');
  }

  /** Gives it back, so that the next owner, perhaps we ourselves, reads the unacknowledged entries again. Never throws. */
  async giveUp(lease: OutboxLease): Promise<void> {
    const { partition } = lease;
    if (this.#held.get(partition)?.lease.token !== lease.token) return;
    this.#held.delete(partition);
    this.#notBeforeMs.set(partition, this.#deps.monotonicNow() + this.#leaseMs);
    try {
      await this.#deps.outbox.release(lease);
      this.#notBeforeMs.delete(partition);
    } catch (error) {
      this.#deps.log.warn({ err: error, partition }, 'a lease could not be given back and will run out');
    }
  }

  async giveUpAll(): Promise<void> {
    await Promise.all([...this.#held.values()].map(({ lease }) => this.giveUp(lease)));
  }

  async #acquire(partition: number): Promise<void> {
    const { outbox, ownerId, monotonicNow } = this.#deps;
    this.#asking.add(partition);
    try {
      const renewedAtMs = monotonicNow();
      const lease = await outbox.acquire(partition, ownerId, this.#leaseMs);
      if (lease !== undefined) this.#held.set(partition, { lease, renewedAtMs });
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
