/**
 * What was read of one partition and is not yet done with. Conversations are delivered beside each other, the entries of
 * each in their order. An entry leaves the queue in one of two ways: delivered and acknowledged, or damaged and set aside
 * with the reason; what the store did not answer is tried again for as long as the partition is ours. Entries of a big
 * group are acknowledged when all its members' lists have them too.
 */
import { isQimError, PUSH_CONVERSATIONS_IN_FLIGHT_MAX, PUSH_TRIES_MAX } from '@qim/proto';
import { isDamage, type OutboxBatch, type OutboxEntry, type OutboxLease } from '@qim/store';
import { eachBounded } from './each-bounded.js';
import { announceDamage, deliverConversation, type FanoutDeps } from './fanout.js';
import type { Courier } from './hooks/courier.js';
import type { Leases } from './leases.js';
import type { PushDeps } from './ports.js';
import { retryWait } from './retry-wait.js';
import type { Sweep, Sweeps } from './sweeps.js';

export interface QueueDeps extends FanoutDeps, Pick<PushDeps, 'outbox' | 'log' | 'sleep'> {
  readonly sweeps: Pick<Sweeps, 'run'>;
  /** Of the webhook; undefined: there is none. */
  readonly courier: Pick<Courier, 'take'> | undefined;
}

/** What a queue tells while it runs. */
export interface QueueProgress {
  /** A first pass left something that must wait. */
  deferred(): void;
  /** All events are handed on, and this many entries wait for sweeps and nothing else. */
  sweeping(entries: number): void;
}

type Entries = readonly [OutboxEntry, ...OutboxEntry[]];

interface Waiting {
  entries: OutboxEntry[];
  /** Passes that met damage. */
  tries: number;
}

export class DeliveryQueue {
  readonly #deps: QueueDeps;
  readonly #leases: Leases;
  readonly #lease: OutboxLease;
  #waiting: Waiting[];
  /** What the webhook is to be told before any of it is acknowledged; empty: it has it. */
  #untold: readonly OutboxEntry[];
  #delivered: string[] = [];
  /** Entries by the sweep that they wait for. */
  readonly #sweeping = new Map<Promise<void>, number>();
  readonly #poison: { readonly entryId: string; readonly reason: string; readonly error?: unknown }[];

  constructor(deps: QueueDeps, leases: Leases, lease: OutboxLease, batch: OutboxBatch) {
    this.#deps = deps;
    this.#leases = leases;
    this.#lease = lease;
    const entries = batch.entries.filter(({ partition }) => partition === lease.partition);
    this.#waiting = byConversation(entries);
    this.#untold = deps.courier === undefined ? [] : entries;
    this.#poison = batch.poison.filter(({ partition }) => partition === lease.partition);
  }

  /**
   * Until all is done, the lease is gone, or the signal aborts between two passes; what is left then comes again to the
   * next owner. Never throws.
   */
  async run(signal: AbortSignal, progress: QueueProgress): Promise<void> {
    for (let passes = 0; this.#leases.owns(this.#lease); passes += 1) {
      await eachBounded(this.#waiting, PUSH_CONVERSATIONS_IN_FLIGHT_MAX, (waiting) => this.#pass(waiting));
      this.#waiting = this.#waiting.filter(({ entries }) => entries.length > 0);
      const settled = await this.#settle();
      if (settled && this.#waiting.length === 0) {
        // A sweep may have ended while the rest was settled.
        if (this.#sweeping.size === 0 && this.#delivered.length === 0) return;
        progress.sweeping([...this.#sweeping.values()].reduce((sum, entries) => sum + entries, 0));
        await Promise.all(this.#sweeping.keys());
        continue;
      }
      this.#deps.observer?.deliveryDeferred?.();
      progress.deferred();
      await this.#deps.sleep(retryWait(passes), signal);
      if (signal.aborted) return;
    }
    // Not to be trusted again by a renewal that comes late: what is left here would never be read again under it.
    await this.#leases.giveUp(this.#lease);
  }

  async #pass(waiting: Waiting): Promise<void> {
    if (!(await this.#attempt(waiting, waiting.entries))) return;
    waiting.tries += 1;
    if (waiting.tries < PUSH_TRIES_MAX) return;
    // One entry at a time finds the one that is damaged; the rest go on.
    for (const entry of [...waiting.entries]) {
      const damage = await this.#attempt(waiting, [entry]);
      if (damage !== undefined) await this.#setAside(waiting, entry, damage);
      if (waiting.entries[0] === entry) return;
    }
  }

  /** The error, when it is not one that time mends; otherwise the entries are delivered, or still waiting. */
  async #attempt(waiting: Waiting, entries: readonly OutboxEntry[]): Promise<{ readonly error: unknown } | undefined> {
    const [first, ...rest] = entries;
    if (first === undefined || !this.#leases.owns(this.#lease)) return undefined;
    let sweep: Sweep | undefined;
    try {
      sweep = await deliverConversation(this.#deps, [first, ...rest] satisfies Entries);
    } catch (error) {
      if (isQimError(error) && error.code === 'StoreUnavailable') return undefined;
      return { error };
    }
    waiting.entries = waiting.entries.filter((entry) => !entries.includes(entry));
    const entryIds = entries.map(({ entryId }) => entryId);
    if (sweep === undefined) this.#delivered.push(...entryIds);
    else this.#sweepFor(sweep, entryIds);
    return undefined;
  }

  /** What is given up is not acknowledged: the next owner does it again. */
  #sweepFor(sweep: Sweep, entryIds: readonly string[]): void {
    const task = this.#deps.sweeps.run(sweep).then((swept) => {
      if (swept) this.#delivered.push(...entryIds);
      this.#sweeping.delete(task);
    });
    this.#sweeping.set(task, entryIds.length);
  }

  async #setAside(waiting: Waiting, entry: OutboxEntry, { error }: { readonly error: unknown }): Promise<void> {
    waiting.entries = waiting.entries.filter((other) => other !== entry);
    this.#poison.push({ entryId: entry.entryId, reason: reasonOf(error), error });
    await announceDamage(this.#deps, entry);
  }

  /** True: nothing is left to tell the outbox, or it is no longer ours to tell. */
  async #settle(): Promise<boolean> {
    const { outbox, log, courier } = this.#deps;
    try {
      if (this.#untold.length > 0) {
        if ((await courier?.take(this.#lease, this.#untold)) === false) return this.#lost();
        this.#untold = [];
      }
      if (this.#delivered.length > 0) {
        if (!(await outbox.acknowledge(this.#lease, this.#delivered))) return this.#lost();
        this.#delivered = [];
      }
      for (let next = this.#poison[0]; next !== undefined; next = this.#poison[0]) {
        if (!(await outbox.setAside(this.#lease, next.entryId, next.reason))) return this.#lost();
        this.#poison.shift();
        this.#deps.observer?.entrySetAside?.(next.reason);
        const { entryId, reason, error } = next;
        log.error({ err: error, partition: this.#lease.partition, entryId, reason }, 'an entry cannot be delivered and was set aside');
      }
      return true;
    } catch (error) {
      log.warn({ err: error, partition: this.#lease.partition }, 'delivered entries could not be acknowledged yet');
      return false;
    }
  }

  #lost(): true {
    this.#leases.lost(this.#lease);
    return true;
  }
}

/** In the order of their first entries. */
function byConversation(entries: readonly OutboxEntry[]): Waiting[] {
  const groups = new Map<string, Waiting>();
  for (const entry of entries) {
    const key = `${entry.tenantId} ${entry.conversationId}`;
    const group = groups.get(key) ?? { entries: [], tries: 0 };
    group.entries.push(entry);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** A stable word for an operator; never a place, an id or content. */
function reasonOf(error: unknown): string {
  if (isDamage(error)) return `${error.code} ${error.detail.reason}`;
  return isQimError(error) ? error.code : 'Internal';
}
