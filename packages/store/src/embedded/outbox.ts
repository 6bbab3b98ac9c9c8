/**
 * The outbox on LMDB: ordered entries that a commit's own step writes, and leases in memory.
 *
 * One server owns the folder, so a lease need not outlive the process; its token does, because it must rise. An entry
 * stays until it is acknowledged, and every lease reads from the first one: what a former owner had read and not
 * acknowledged comes again, before anything newer.
 */
import { assert, OUTBOX_BATCH_MAX, SEQ_MAX } from '@qim/proto';
import { endingAfter } from '../clock.js';
import type { Outbox, OutboxBatch, OutboxEntry, OutboxLease, PoisonEntry } from '../outbox/outbox.js';
import type { Environment, FaultHook, Snapshot, Write } from './environment.js';
import { everythingUnder, leaseCounter, outboxCounter, outboxEntry, outboxPrefix, Table } from './keys.js';
import { decodeOutboxValue, encodeOutboxValue, type OutboxValue } from './outbox-value.js';
import { decodePoison, encodePoison } from './poison-value.js';
import { counterFrom, counterValue } from './values.js';

interface Ownership {
  readonly token: number;
  readonly ownerId: string;
  expiresAtMs: number;
  /** The number of the last entry that was read under this lease; 0: none. */
  readUpTo: number;
}

/** What an amendment or a step of retention adds to its own step; commits share their counter (commit-series). */
export function outboxWrites(snapshot: Snapshot, partition: number, entry: OutboxValue): readonly Write[] {
  const number = lastEntryNumber(snapshot, partition) + 1;
  return [outboxWrite(partition, number, entry), { key: outboxCounter(partition), value: counterValue(number) }];
}

export function lastEntryNumber(snapshot: Snapshot, partition: number): number {
  return counterFrom(snapshot.get(outboxCounter(partition)));
}

export function outboxWrite(partition: number, number: number, entry: OutboxValue): Write {
  return { key: outboxEntry(Table.Outbox, partition, number), value: encodeOutboxValue(entry) };
}

export interface EmbeddedOutboxOptions {
  readonly environment: Environment;
  readonly partitionCount: number;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly faults: FaultHook | undefined;
  /** False beside a running server: every lease is taken. */
  readonly mayOwn: boolean;
}

export class EmbeddedOutbox implements Outbox {
  readonly partitionCount: number;
  readonly #options: EmbeddedOutboxOptions;
  readonly #owners = new Map<number, Ownership>();
  /** Until when each owner said that it lives. */
  readonly #living = new Map<string, number>();
  /** Partitions whose new token is on its way to the disk. */
  readonly #acquiring = new Set<number>();
  readonly #waiters = new Set<() => void>();
  #closed = false;

  constructor(options: EmbeddedOutboxOptions) {
    this.#options = options;
    this.partitionCount = options.partitionCount;
  }

  /** The lease stands; to be asked inside a plan that depends on it. */
  owns(lease: OutboxLease): boolean {
    return this.#ownership(lease) !== undefined;
  }

  /** Something was committed: whoever waits reads again. */
  wake(): void {
    for (const waiter of [...this.#waiters]) waiter();
  }

  /** Ends all waits. */
  close(): void {
    this.#closed = true;
    this.wake();
  }

  /** Owners that matter are all in this process: one that runs beside it can own nothing. */
  async announceOwner(ownerId: string, forMs: number): Promise<number> {
    const { now } = this.#options;
    this.#living.set(ownerId, now() + forMs);
    for (const [known, untilMs] of this.#living) if (untilMs <= now()) this.#living.delete(known);
    return this.#living.size;
  }

  async withdrawOwner(ownerId: string): Promise<void> {
    this.#living.delete(ownerId);
  }

  async acquire(partition: number, ownerId: string, leaseMs: number): Promise<OutboxLease | undefined> {
    assert(partition >= 0 && partition < this.partitionCount, 'the partition is one of this store');
    const { environment, now, faults, mayOwn } = this.#options;
    const held = this.#current(partition);
    if (held !== undefined) {
      if (held.ownerId !== ownerId) return undefined;
      held.expiresAtMs = now() + leaseMs;
      return { partition, token: held.token };
    }
    if (!mayOwn || this.#acquiring.has(partition)) return undefined;
    this.#acquiring.add(partition);
    try {
      const token = await environment.write(
        'acquire',
        (snapshot) => {
          const next = counterFrom(snapshot.get(leaseCounter(partition))) + 1;
          return { result: next, writes: [{ key: leaseCounter(partition), value: counterValue(next) }] };
        },
        faults,
      );
      this.#owners.set(partition, { token, ownerId, expiresAtMs: now() + leaseMs, readUpTo: 0 });
      return { partition, token };
    } finally {
      this.#acquiring.delete(partition);
    }
  }

  async renew(lease: OutboxLease, leaseMs: number): Promise<boolean> {
    const held = this.#ownership(lease);
    if (held === undefined) return false;
    held.expiresAtMs = this.#options.now() + leaseMs;
    return true;
  }

  async release(lease: OutboxLease): Promise<void> {
    if (this.#ownership(lease) === undefined) return;
    this.#owners.delete(lease.partition);
    this.wake();
  }

  async read(leases: readonly OutboxLease[], waitMs: number, signal: AbortSignal): Promise<OutboxBatch> {
    const { ended, release } = endingAfter(waitMs, signal);
    try {
      for (;;) {
        if (this.#closed) return { entries: [], poison: [] };
        const batch = this.#take(leases);
        if (batch.entries.length + batch.poison.length > 0 || ended.aborted) return batch;
        await this.#wokenOr(ended);
      }
    } finally {
      release();
    }
  }

  acknowledge(lease: OutboxLease, entryIds: readonly string[]): Promise<boolean> {
    return this.#whileOwned('acknowledge', lease, () =>
      entryIds.flatMap((entryId) => {
        const number = entryNumber(entryId);
        return number === undefined ? [] : [{ key: outboxEntry(Table.Outbox, lease.partition, number), value: undefined }];
      }),
    );
  }

  setAside(lease: OutboxLease, entryId: string, reason: string): Promise<boolean> {
    return this.#whileOwned('setAside', lease, (snapshot) => {
      const number = entryNumber(entryId);
      if (number === undefined) return [];
      const from = outboxEntry(Table.Outbox, lease.partition, number);
      const value = snapshot.get(from);
      if (value === undefined) return [];
      const poison = encodePoison({ entry: value.toString('latin1'), reason, atMs: this.#options.now() });
      return [
        { key: outboxEntry(Table.Poison, lease.partition, number), value: poison },
        { key: from, value: undefined },
      ];
    });
  }

  async poison(limit: number): Promise<readonly PoisonEntry[]> {
    return this.#options.environment.read((snapshot) => {
      const found: PoisonEntry[] = [];
      for (let partition = 0; partition < this.partitionCount && found.length < limit; partition += 1) {
        const range = everythingUnder(outboxPrefix(Table.Poison, partition));
        for (const key of snapshot.keys(range, limit - found.length, 'descending')) {
          found.push({ partition, entryId: String(counterFrom(key.subarray(-8))), ...decodePoison(snapshot.get(key)) });
        }
      }
      return found;
    });
  }

  async backlog(): Promise<{ readonly entries: number; readonly oldestMs: number; readonly poison: number }> {
    return this.#options.environment.read((snapshot) => {
      let entries = 0;
      let poison = 0;
      let oldestAtMs = Number.POSITIVE_INFINITY;
      for (let partition = 0; partition < this.partitionCount; partition += 1) {
        const range = everythingUnder(outboxPrefix(Table.Outbox, partition));
        entries += snapshot.count(range);
        poison += snapshot.count(everythingUnder(outboxPrefix(Table.Poison, partition)));
        const value = decodeOutboxValue(snapshot.entries(range, 1)[0]?.value);
        if (value !== undefined) oldestAtMs = Math.min(oldestAtMs, value.atMs);
      }
      const oldestMs = Number.isFinite(oldestAtMs) ? Math.max(0, this.#options.now() - oldestAtMs) : 0;
      return { entries, oldestMs, poison };
    });
  }

  /** Entries past what these leases have read. */
  #take(leases: readonly OutboxLease[]): OutboxBatch {
    const entries: OutboxEntry[] = [];
    const poison: { partition: number; entryId: string; reason: string }[] = [];
    this.#options.environment.read((snapshot) => {
      for (const lease of leases) {
        const held = this.#ownership(lease);
        if (held === undefined) continue;
        const { partition } = lease;
        const { end } = everythingUnder(outboxPrefix(Table.Outbox, partition));
        const start = outboxEntry(Table.Outbox, partition, held.readUpTo + 1);
        for (const { key, value } of snapshot.entries({ start, end }, OUTBOX_BATCH_MAX)) {
          const number = counterFrom(key.subarray(-8));
          held.readUpTo = number;
          const entryId = String(number);
          const decoded = decodeOutboxValue(value);
          if (decoded === undefined) poison.push({ partition, entryId, reason: 'the entry cannot be read' });
          else {
            const { kind, tenantId, conversationId, conversationSeq } = decoded;
            entries.push({ partition, entryId, kind, tenantId, conversationId, conversationSeq });
          }
        }
      }
    });
    return { entries, poison };
  }

  #wokenOr(ended: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        ended.removeEventListener('abort', done);
        this.#waiters.delete(done);
        resolve();
      };
      ended.addEventListener('abort', done);
      this.#waiters.add(done);
    });
  }

  #current(partition: number): Ownership | undefined {
    const held = this.#owners.get(partition);
    return held !== undefined && this.#options.now() < held.expiresAtMs ? held : undefined;
  }

  #ownership(lease: OutboxLease): Ownership | undefined {
    const held = this.#current(lease.partition);
    return held?.token === lease.token ? held : undefined;
  }

  #whileOwned(operation: string, lease: OutboxLease, writes: (snapshot: Snapshot) => readonly Write[]): Promise<boolean> {
    return this.#options.environment.write(
      operation,
      (snapshot) => {
        if (this.#ownership(lease) === undefined) return { result: false, writes: [] };
        return { result: true, writes: writes(snapshot) };
      },
      this.#options.faults,
    );
  }
}

/** Undefined: no id that this outbox ever gave. */
export function entryNumber(entryId: string): number | undefined {
  const number = Number(entryId);
  return /^[1-9][0-9]*$/.test(entryId) && number <= SEQ_MAX ? number : undefined;
}
