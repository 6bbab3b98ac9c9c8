/**
 * Follows the outbox: reads the partitions that are ours and idle, hands each batch to a queue of its own, and reads on
 * when all of them are done or have something that must wait. A partition with a queue is not read, so the order within it
 * holds; one whose queue waits for sweeps alone is read on, up to PUSH_ENTRIES_SWEEPING_MAX of such entries. One partition
 * that waits does not stop the others.
 */
import { PUSH_ENTRIES_SWEEPING_MAX, PUSH_READ_WAIT_MS } from '@qim/proto';
import type { OutboxBatch, OutboxLease } from '@qim/store';
import { DeliveryQueue, type QueueDeps } from './delivery-queue.js';
import type { Leases } from './leases.js';
import { retryWait } from './retry-wait.js';

export class Follower {
  readonly #deps: QueueDeps;
  readonly #leases: Leases;
  /** By partition: resolves when its queue is done. */
  readonly #busy = new Map<number, Promise<void>>();
  /** Queues that wait for sweeps and nothing else: the partition and how many entries. */
  readonly #sweeping = new Map<Promise<void>, { readonly partition: number; readonly entries: number }>();

  constructor(deps: QueueDeps, leases: Leases) {
    this.#deps = deps;
    this.#leases = leases;
  }

  /** Until the signal aborts; then resolves when what was read has been handed on once. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const idle = this.#leases.current().filter(({ partition }) => !this.#busy.has(partition));
      if (idle.length === 0) {
        await this.#waitForWork(signal);
        continue;
      }
      const batch = await this.#read(idle, signal);
      if (batch === undefined) {
        await this.#deps.sleep(retryWait(failures), signal);
        if (!signal.aborted) await this.#leases.acquireMissing();
        failures += 1;
      } else {
        failures = 0;
        await this.#dispatch(idle, batch, signal);
      }
    }
    await Promise.all([...this.#busy.values(), ...this.#sweeping.keys()]);
  }

  /** Entries of it were read and are not done with. */
  busy(partition: number): boolean {
    return this.#busy.has(partition) || this.#entriesSweeping(partition) > 0;
  }

  /** Undefined: no answer. Entries may have been given out with it, so the leases go: a new one gets them again. */
  async #read(leases: readonly OutboxLease[], signal: AbortSignal): Promise<OutboxBatch | undefined> {
    try {
      return await this.#deps.outbox.read(leases, PUSH_READ_WAIT_MS, signal);
    } catch (error) {
      if (!signal.aborted) this.#deps.log.warn({ err: error }, 'the outbox could not be read');
      await Promise.all(leases.map((lease) => this.#leases.giveUp(lease)));
      return undefined;
    }
  }

  async #dispatch(leases: readonly OutboxLease[], { entries, poison }: OutboxBatch, signal: AbortSignal): Promise<void> {
    const met = new Set([...entries, ...poison].map(({ partition }) => partition));
    const firstPasses = leases
      .filter(({ partition }) => met.has(partition))
      .map((lease) => this.#begin(lease, { entries, poison }, signal));
    await Promise.all(firstPasses);
  }

  /** Resolves when the queue is done, or waits for something. */
  #begin(lease: OutboxLease, batch: OutboxBatch, signal: AbortSignal): Promise<void> {
    const { partition } = lease;
    const queue = new DeliveryQueue(this.#deps, this.#leases, lease, batch);
    return new Promise((resolve) => {
      const sweeping = (entries: number): void => {
        if (this.#entriesSweeping(partition) + entries <= PUSH_ENTRIES_SWEEPING_MAX) {
          this.#busy.delete(partition);
          this.#sweeping.set(done, { partition, entries });
        }
        resolve();
      };
      const done: Promise<void> = queue.run(signal, { deferred: resolve, sweeping }).finally(() => {
        if (this.#busy.get(partition) === done) this.#busy.delete(partition);
        this.#sweeping.delete(done);
        this.#leases.settled(partition, this.busy(partition));
        resolve();
      });
      this.#busy.set(partition, done);
    });
  }

  #entriesSweeping(partition: number): number {
    return [...this.#sweeping.values()].reduce((sum, each) => sum + (each.partition === partition ? each.entries : 0), 0);
  }

  /** Nothing is ours, or all of it has a queue. */
  async #waitForWork(signal: AbortSignal): Promise<void> {
    const met = new AbortController();
    try {
      await Promise.race([this.#deps.sleep(PUSH_READ_WAIT_MS, AbortSignal.any([signal, met.signal])), ...this.#busy.values()]);
    } finally {
      met.abort();
    }
  }
}
