/**
 * One LMDB environment: consistent reads, and writes that are all or nothing, grouped into shared transactions.
 *
 * A write is a plan: it reads what it needs, refuses by throwing, and returns what to write; it cannot write by itself.
 * So nothing is half written by a refusal. The plans that wait run one after the other in one child transaction, each
 * seeing what those before it wrote, and share one flush to the disk; a write resolves after that flush. When a write
 * itself fails (disk full, an injected fault), the child transaction is undone and its plans run once more, each in a
 * child transaction of its own, so that only the one that fails is refused.
 *
 * Everything inside a plan or a read is synchronous: that is what makes it one transaction and one snapshot.
 */

import { EMBEDDED_BATCH_MAX, STORE_COMMANDS_WAITING_MAX } from '@qim/proto';
import { open, type RootDatabase } from 'lmdb';
import { nextTurn } from '../clock.js';
import { unavailable } from '../errors.js';
import type { KeyRange } from './keys.js';

/** Keys and values are copies and may be kept, but for those of `peek`. */
export interface Snapshot {
  readonly get: (key: Buffer) => Buffer | undefined;
  /** The same, in bytes that the next read of any kind uses again: a list reads thousands of records, and keeps none. */
  readonly peek: (key: Buffer) => Uint8Array | undefined;
  /** The keys of the range in ascending order, or the last ones in descending order, at most `limit`. */
  readonly keys: (range: KeyRange, limit: number, order?: 'ascending' | 'descending') => Buffer[];
  readonly entries: (range: KeyRange, limit: number) => { readonly key: Buffer; readonly value: Buffer }[];
  /** Cost: proportional to the range; its values are not read. */
  readonly count: (range: KeyRange) => number;
}

/** Undefined removes the key; removing what is not there is nothing. */
export interface Write {
  readonly key: Buffer;
  readonly value: Uint8Array | undefined;
}

export interface Plan<T> {
  readonly result: T;
  readonly writes: readonly Write[];
  /** Called when its writes stand in the transaction. */
  readonly applied?: (() => void) | undefined;
}

/**
 * What plans of one kind that run right after each other in one transaction know from each other: nothing else was
 * written in between. It ends with the transaction, and before any other plan runs.
 */
export interface Series {
  /** What its plans have put off to its end, as each would only overwrite what the one before it wrote. */
  owed(): readonly Write[];
  /** It has ended: what it knows is true no more. */
  forget(): void;
}

/**
 * Called before each write of a plan (`index` 0..`of` - 1), and once after the last (`index` = `of`); the same for what a
 * series owes, with the operation 'owed'. Tests throw here.
 */
export type FaultHook = (at: { readonly operation: string; readonly index: number; readonly of: number }) => void;

/** A write that waits for its turn. `run` plans and writes; a refusal stays inside. */
interface Waiting {
  readonly run: () => void;
  /** `failure`: why nothing of it is on the disk; undefined: what `run` came to. */
  readonly settle: (failure: unknown) => void;
}

export class Environment {
  readonly #options: ReturnType<typeof optionsFor>;
  #db: RootDatabase<Buffer, Buffer>;
  #waiting: Waiting[] = [];
  #scheduled = false;
  #running: Promise<void> = Promise.resolve();
  #closed = false;
  #snapshot: Snapshot;
  /** Whose plan ran last in the child transaction that is open. */
  #series: Series | undefined;
  #seriesFaults: FaultHook | undefined;
  readonly #flushListeners = new Set<() => void>();

  /** Creates `file` (mode 0600) when it is not there. `mapBytes` is address space at first; LMDB doubles it as needed. */
  constructor(file: string, mapBytes: number) {
    this.#options = optionsFor(file, mapBytes);
    this.#db = open(this.#options);
    this.#snapshot = snapshotOf(this.#db);
  }

  /** @throws StoreUnavailable */
  read<T>(fn: (snapshot: Snapshot) => T): T {
    this.#refuseWhenClosed();
    // Forget the last snapshot: another process may have written, as fsck and the test tools do.
    this.#db.resetReadTxn();
    return fn(this.#snapshot);
  }

  /**
   * Resolves with the plan's result when all its writes are on the disk; a plan without writes waits for those before it.
   *
   * @throws what the plan threw, or StoreUnavailable; nothing of this plan was written then
   */
  write<T>(operation: string, plan: (snapshot: Snapshot) => Plan<T>, faults?: FaultHook, series?: Series): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#refuseWhenClosed();
      if (this.#waiting.length >= STORE_COMMANDS_WAITING_MAX) throw unavailable('too many writes wait');
      let answer = (): void => reject(new Error('the plan did not run'));
      const run = (): void => {
        this.#continueSeries(series, faults);
        let planned: Plan<T>;
        try {
          planned = plan(this.#snapshot);
        } catch (refusal) {
          if (!(refusal instanceof Error)) throw refusal;
          answer = () => reject(refusal);
          return;
        }
        this.#apply(operation, planned.writes, faults);
        planned.applied?.();
        answer = () => resolve(planned.result);
      };
      const settle = (failure: unknown): void => (failure === undefined ? answer() : reject(unavailable(operation, failure)));
      this.#waiting.push({ run, settle });
      this.#schedule();
    });
  }

  /**
   * Gives back the memory that reads have mapped, which grows with what was read and counts as the process's own. For one
   * who reads everything and is alone with it in this process: until it resolves nothing may be read or written.
   */
  async remap(): Promise<void> {
    this.#refuseWhenClosed();
    await this.#db.close();
    this.#db = open(this.#options);
    this.#snapshot = snapshotOf(this.#db);
  }

  /** Writes what there is at one moment into a new file, without what is free in it. Others may write meanwhile. @throws StoreUnavailable */
  async copyTo(file: string): Promise<void> {
    this.#refuseWhenClosed();
    try {
      await this.#db.backup(file, true);
    } catch (error) {
      throw unavailable('a copy of the store', error);
    }
  }

  /** Told after each shared transaction. Answers how to be told no more. */
  onFlush(listener: () => void): () => void {
    this.#flushListeners.add(listener);
    return () => this.#flushListeners.delete(listener);
  }

  /** Waits for what was begun; refuses everything later. */
  async close(): Promise<void> {
    this.#closed = true;
    do {
      this.#schedule();
      await this.#running;
    } while (this.#waiting.length > 0);
    await this.#db.close();
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw unavailable('the store is closed');
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0) return;
    this.#scheduled = true;
    this.#running = this.#runBatch();
  }

  async #runBatch(): Promise<void> {
    let batch: Waiting[] = [];
    let failures: unknown[] = [];
    try {
      await this.#db.transaction(() => {
        // What arrives from here on goes into the next transaction, which is queued while this one is being flushed.
        batch = this.#waiting.splice(0, EMBEDDED_BATCH_MAX);
        this.#scheduled = false;
        failures = this.#runTogether(batch);
      });
    } catch (error) {
      const cause = await causeOf(error);
      // The transaction never began: what waits would wait for ever.
      if (batch.length === 0) {
        batch = this.#waiting.splice(0);
        this.#scheduled = false;
      }
      failures = batch.map(() => cause);
    }
    for (const listener of this.#flushListeners) listener();
    for (const [i, waiting] of batch.entries()) waiting.settle(failures[i]);
    this.#schedule();
  }

  /** One failure or undefined for each of the batch. */
  #runTogether(batch: readonly Waiting[]): unknown[] {
    try {
      this.#inChildTransaction(() => {
        for (const waiting of batch) waiting.run();
      });
      return [];
    } catch (error) {
      if (batch.length === 1) return [error];
      return batch.map((waiting) => this.#runAlone(waiting));
    }
  }

  #runAlone(waiting: Waiting): unknown {
    try {
      this.#inChildTransaction(waiting.run);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  #inChildTransaction(run: () => void): void {
    try {
      // Inside a transaction this is synchronous, whatever its type says.
      void this.#db.childTransaction(() => {
        run();
        this.#continueSeries(undefined, undefined);
      });
    } finally {
      // Undone: what it owed is not to be written any more.
      this.#series?.forget();
      this.#series = undefined;
    }
  }

  /** Another one, or none, ends that which runs. */
  #continueSeries(series: Series | undefined, faults: FaultHook | undefined): void {
    const ended = this.#series === series ? undefined : this.#series;
    if (ended !== undefined) {
      this.#apply('owed', ended.owed(), this.#seriesFaults);
      ended.forget();
    }
    this.#series = series;
    this.#seriesFaults = faults;
  }

  #apply(operation: string, writes: readonly Write[], faults: FaultHook | undefined): void {
    let index = 0;
    for (const { key, value } of writes) {
      faults?.({ operation, index, of: writes.length });
      index += 1;
      if (value === undefined) this.#db.removeSync(key);
      // lmdb takes any bytes; its types know Buffers.
      else this.#db.putSync(key, value as Buffer);
    }
    if (writes.length > 0) faults?.({ operation, index: writes.length, of: writes.length });
  }
}

function optionsFor(file: string, mapBytes: number) {
  return {
    path: file,
    noSubdir: true,
    encoding: 'binary',
    keyEncoding: 'binary',
    // A commit resolves when it is on the disk, not before.
    overlappingSync: false,
    // Writes are grouped here; lmdb's own grouping leaves a promise unhandled when a commit fails, as on a full disk.
    eventTurnBatching: false,
    mapSize: mapBytes,
    permissionsMode: 0o600,
    maxDbs: 1,
  } as const;
}

function snapshotOf(db: RootDatabase<Buffer, Buffer>): Snapshot {
  return {
    get: (key) => reading(() => db.get(key)),
    keys: (range, limit, order = 'ascending') => reading(() => [...db.getKeys(rangeOptions(range, limit, order))]),
    entries: (range, limit) => reading(() => [...db.getRange(rangeOptions(range, limit, 'ascending'))]),
    peek: (key) => reading(() => db.getBinaryFast(key)),
    count: ({ start, end }) => reading(() => db.getKeysCount({ start, end })),
  };
}

/** The same, with `before` called before each of its reads. */
export function watchedSnapshot(snapshot: Snapshot, before: () => void): Snapshot {
  const first = <Arguments extends unknown[], T>(read: (...args: Arguments) => T) => {
    return (...args: Arguments): T => {
      before();
      return read(...args);
    };
  };
  const { get, peek, keys, entries, count } = snapshot;
  return { get: first(get), peek: first(peek), keys: first(keys), entries: first(entries), count: first(count) };
}

function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw unavailable('read', error);
  }
}

/** Both ends as LMDB wants them: a descending range starts at its upper end; no stored key equals an exclusive end. */
function rangeOptions({ start, end }: KeyRange, limit: number, order: 'ascending' | 'descending') {
  if (order === 'ascending') return { start, end, limit };
  return { start: end, end: start, limit, reverse: true, exclusiveStart: true, inclusiveEnd: true };
}

/** lmdb tells the cause of a failed commit, such as a full disk, by a promise beside the error. */
async function causeOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error && 'commitError' in error && error.commitError instanceof Promise)) return error;
  const told = error.commitError.catch((cause: unknown) => cause);
  return (await Promise.race([told, nextTurn()])) ?? error;
}
