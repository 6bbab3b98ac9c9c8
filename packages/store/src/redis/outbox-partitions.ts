/**
 * Reading of many partitions at the same time, each on a connection of its own.
 *
 * A read hands out what the first ones have found. The others go on waiting, and what they find is kept, one batch at most
 * for each, until the next read asks for it. What was kept for a lease that ended is dropped with all that was known of it:
 * it is pending, and the next lease begins with what is pending.
 */
import { assert } from '@qim/proto';
import type { OutboxLease } from '../outbox/outbox.js';
import type { RedisContext } from './context.js';
import type { StoredEntry } from './outbox-entry.js';
import { OutboxReader } from './outbox-reader.js';
import { CONNECTION_NAME, type OutboxReads } from './outbox-reads.js';

export interface OpenedReader {
  readonly reader: Pick<OutboxReader, 'read' | 'settled'>;
  close(): void;
}

export function partitionReaders(context: RedisContext): OutboxReads {
  return new PartitionReaders(async () => {
    const connection = await context.connection.dedicated(CONNECTION_NAME);
    return { reader: new OutboxReader(connection, context), close: () => connection.destroy() };
  });
}

export class PartitionReaders implements OutboxReads {
  readonly #open: () => Promise<OpenedReader>;
  /** By partition. */
  readonly #lanes = new Map<number, Lane>();

  constructor(open: () => Promise<OpenedReader>) {
    this.#open = open;
  }

  async read(leases: readonly OutboxLease[], waitMs: number, signal: AbortSignal): Promise<readonly StoredEntry[]> {
    if (leases.length === 0 || signal.aborted) return [];
    const lanes = leases.map((lease) => this.#laneOf(lease));
    // What waits for longer than this read may would not tell whether there is something now.
    if (waitMs === 0) await Promise.all(lanes.map((lane) => lane.interrupt()));
    const whole = new Set<Lane>();
    for (;;) {
      const found = lanes.flatMap((lane) => lane.take());
      if (found.length > 0) return found;
      for (const lane of lanes) lane.throwFailure();
      const idle = lanes.filter((lane) => !lane.reading);
      // One that has waited for the whole time of this read.
      if (signal.aborted || (waitMs > 0 ? idle.some((lane) => whole.has(lane)) : whole.size > 0)) return [];
      for (const lane of idle) {
        lane.start(waitMs);
        whole.add(lane);
      }
      if (waitMs === 0) await Promise.all(lanes.map((lane) => lane.done));
      else await firstOf(lanes, signal);
    }
  }

  settled({ partition, token }: OutboxLease, entryIds: readonly string[]): void {
    const lane = this.#lanes.get(partition);
    if (lane?.lease.token === token) lane.settled(entryIds);
  }

  async ended({ partition, token }: OutboxLease): Promise<void> {
    const lane = this.#lanes.get(partition);
    if (lane === undefined || lane.lease.token !== token) return;
    this.#lanes.delete(partition);
    await lane.interrupt();
    lane.close();
  }

  close(): void {
    for (const lane of this.#lanes.values()) lane.close();
    this.#lanes.clear();
  }

  #laneOf(lease: OutboxLease): Lane {
    const known = this.#lanes.get(lease.partition);
    if (known?.lease.token === lease.token) return known;
    known?.close();
    const lane = new Lane(lease, this.#open);
    this.#lanes.set(lease.partition, lane);
    return lane;
  }
}

/** Resolves when the first of them is done, or the signal fires. */
async function firstOf(lanes: readonly Lane[], signal: AbortSignal): Promise<void> {
  let onAbort = (): void => {};
  const aborted = new Promise<void>((resolve) => {
    onAbort = resolve;
  });
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.race([aborted, ...lanes.map((lane) => lane.done)]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** One partition under one lease. */
class Lane {
  readonly lease: OutboxLease;
  readonly #open: () => Promise<OpenedReader>;
  #opened: Promise<OpenedReader> | undefined;
  #reader: OpenedReader | undefined;
  #stop = new AbortController();
  #found: readonly StoredEntry[] = [];
  #failure: { readonly error: unknown } | undefined;
  reading = false;
  /** Resolves when what it reads now has ended, in whatever way. */
  done: Promise<void> = Promise.resolve();

  constructor(lease: OutboxLease, open: () => Promise<OpenedReader>) {
    this.lease = lease;
    this.#open = open;
  }

  start(waitMs: number): void {
    assert(!this.reading && this.#found.length === 0, 'a batch is taken before the next one is read');
    this.reading = true;
    this.#stop = new AbortController();
    this.done = this.#read(waitMs, this.#stop.signal);
  }

  async #read(waitMs: number, signal: AbortSignal): Promise<void> {
    try {
      this.#opened ??= this.#open();
      this.#reader = await this.#opened;
      this.#found = await this.#reader.reader.read([this.lease], waitMs, signal);
    } catch (error) {
      this.#failure = { error };
    } finally {
      this.reading = false;
    }
  }

  take(): readonly StoredEntry[] {
    const found = this.#found;
    this.#found = [];
    return found;
  }

  throwFailure(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
  }

  settled(entryIds: readonly string[]): void {
    this.#reader?.reader.settled(this.lease, entryIds);
  }

  /** Ends a wait; what it has found all the same is kept. */
  async interrupt(): Promise<void> {
    if (!this.reading) return;
    this.#stop.abort();
    await this.done;
  }

  close(): void {
    void this.#opened?.then((opened) => opened.close()).catch(() => {});
  }
}
