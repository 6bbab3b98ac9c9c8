/** The queue of the webhook on LMDB: the entries of the outbox once more, under keys of their own. */
import { OUTBOX_POISON_MAX } from '@qim/proto';
import { type HookBatch, type HookJob, type HookQueue, QUEUE_FULL } from '../hooks/hook-queue.js';
import type { OutboxEntry, OutboxLease, PoisonEntry } from '../outbox/outbox.js';
import type { Environment, FaultHook, Snapshot, Write } from './environment.js';
import { everythingUnder, hookCounter, type KeyRange, outboxEntry, outboxPrefix, Table } from './keys.js';
import { type EmbeddedOutbox, entryNumber } from './outbox.js';
import { decodeOutboxValue, encodeOutboxValue } from './outbox-value.js';
import { decodePoison, encodePoison } from './poison-value.js';
import { counterFrom, counterValue } from './values.js';

export interface EmbeddedHooksOptions {
  readonly environment: Environment;
  readonly outbox: Pick<EmbeddedOutbox, 'owns' | 'partitionCount'>;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly faults: FaultHook | undefined;
}

export class EmbeddedHooks implements HookQueue {
  readonly #options: EmbeddedHooksOptions;

  constructor(options: EmbeddedHooksOptions) {
    this.#options = options;
  }

  append(lease: OutboxLease, entries: readonly OutboxEntry[], keep: number): Promise<boolean> {
    const { partition } = lease;
    return this.#whileOwned('hooks', lease, (snapshot) => {
      const through = counterFrom(snapshot.get(hookCounter(partition)));
      const added = entries.flatMap((entry) => {
        const number = entryNumber(entry.entryId) ?? 0;
        return number > through ? [{ key: outboxEntry(Table.Hook, partition, number), value: this.#value(snapshot, entry, number) }] : [];
      });
      const last = added.at(-1);
      if (last === undefined) return [];
      const counter = { key: hookCounter(partition), value: counterValue(numberOf(last.key)) };
      return [...added, counter, ...this.#drivenOut(snapshot, partition, added.length, keep)];
    });
  }

  async read(partition: number, after: string | undefined, limit: number): Promise<HookBatch> {
    const { end } = everythingUnder(outboxPrefix(Table.Hook, partition));
    const start = outboxEntry(Table.Hook, partition, (after === undefined ? 0 : (entryNumber(after) ?? 0)) + 1);
    return this.#options.environment.read((snapshot) => {
      const jobs: HookJob[] = [];
      const poison: { entryId: string; reason: string }[] = [];
      let last: string | undefined;
      for (const { key, value } of snapshot.entries({ start, end }, limit)) {
        last = String(numberOf(key));
        const decoded = decodeOutboxValue(value);
        if (decoded === undefined) {
          poison.push({ entryId: last, reason: 'the entry cannot be read' });
          continue;
        }
        const { atMs, ...entry } = decoded;
        jobs.push({ partition, entryId: last, ...entry, committedAtMs: atMs });
      }
      return { jobs, poison, last };
    });
  }

  remove(lease: OutboxLease, entryIds: readonly string[]): Promise<boolean> {
    return this.#whileOwned('hooksRemove', lease, () =>
      entryIds.map((entryId) => ({ key: outboxEntry(Table.Hook, lease.partition, entryNumber(entryId) ?? 0), value: undefined })),
    );
  }

  setAside(lease: OutboxLease, entryId: string, reason: string): Promise<boolean> {
    return this.#whileOwned('hooksSetAside', lease, (snapshot) => {
      const key = outboxEntry(Table.Hook, lease.partition, entryNumber(entryId) ?? 0);
      const value = snapshot.get(key);
      return value === undefined ? [] : [...this.#burial(lease.partition, key, value, reason), ...room(snapshot, lease.partition, 1)];
    });
  }

  async dead(limit: number): Promise<readonly PoisonEntry[]> {
    return this.#options.environment.read((snapshot) =>
      this.#partitions().flatMap((partition) =>
        snapshot
          .keys(deadRange(partition), limit, 'descending')
          .map((key) => ({ partition, entryId: String(numberOf(key)), ...decodePoison(snapshot.get(key)) })),
      ),
    );
  }

  async backlog(): Promise<{ readonly waiting: number; readonly oldestMs: number; readonly dead: number }> {
    return this.#options.environment.read((snapshot) => {
      let [waiting, dead, oldestAtMs] = [0, 0, Number.POSITIVE_INFINITY];
      for (const partition of this.#partitions()) {
        const range = everythingUnder(outboxPrefix(Table.Hook, partition));
        waiting += snapshot.count(range);
        dead += snapshot.count(deadRange(partition));
        const first = decodeOutboxValue(snapshot.entries(range, 1)[0]?.value);
        if (first !== undefined) oldestAtMs = Math.min(oldestAtMs, first.atMs);
      }
      return { waiting, oldestMs: Number.isFinite(oldestAtMs) ? Math.max(0, this.#options.now() - oldestAtMs) : 0, dead };
    });
  }

  #partitions(): number[] {
    return Array.from({ length: this.#options.outbox.partitionCount }, (_, partition) => partition);
  }

  /** As the outbox has it, time and all; the entry is not acknowledged before it is here. */
  #value(snapshot: Snapshot, entry: OutboxEntry, number: number): Uint8Array {
    const stored = snapshot.get(outboxEntry(Table.Outbox, entry.partition, number));
    return stored ?? encodeOutboxValue({ ...entry, atMs: this.#options.now() });
  }

  /** The oldest ones, where more than `keep` would wait. Those that are being added are not read yet: `keep` is past one batch. */
  #drivenOut(snapshot: Snapshot, partition: number, adding: number, keep: number): Write[] {
    const range = everythingUnder(outboxPrefix(Table.Hook, partition));
    const excess = snapshot.count(range) + adding - keep;
    if (excess <= 0) return [];
    const oldest = snapshot.entries(range, excess);
    const buried = oldest.flatMap(({ key, value }) => this.#burial(partition, key, value, QUEUE_FULL));
    return [...buried, ...room(snapshot, partition, oldest.length)];
  }

  #burial(partition: number, key: Buffer, value: Uint8Array, reason: string): Write[] {
    const dead = encodePoison({ entry: Buffer.from(value).toString('latin1'), reason, atMs: this.#options.now() });
    return [
      { key: outboxEntry(Table.DeadHook, partition, numberOf(key)), value: dead },
      { key, value: undefined },
    ];
  }

  #whileOwned(operation: string, lease: OutboxLease, writes: (snapshot: Snapshot) => readonly Write[]): Promise<boolean> {
    const { environment, outbox, faults } = this.#options;
    return environment.write(
      operation,
      (snapshot) => (outbox.owns(lease) ? { result: true, writes: writes(snapshot) } : { result: false, writes: [] }),
      faults,
    );
  }
}

function deadRange(partition: number): KeyRange {
  return everythingUnder(outboxPrefix(Table.DeadHook, partition));
}

/** Takes the oldest dead letters away, so that `adding` more fit. */
function room(snapshot: Snapshot, partition: number, adding: number): Write[] {
  const excess = snapshot.count(deadRange(partition)) + adding - OUTBOX_POISON_MAX;
  return excess <= 0 ? [] : snapshot.keys(deadRange(partition), excess).map((key) => ({ key, value: undefined }));
}

function numberOf(key: Buffer): number {
  return counterFrom(key.subarray(-8));
}
