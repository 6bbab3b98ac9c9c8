/**
 * What the operator's webhook is still to be told, per commit partition: entries of the outbox that wait for it apart, so
 * that a webhook that does not answer holds up no delivery to devices. Ids and sequences, never content: what is told is
 * read from the history when its turn comes.
 *
 * Whoever owns a partition of the outbox owns its queue, by the same lease. An entry is told at least once. Every method
 * may throw `StoreUnavailable`.
 */
import type { OutboxEntry, OutboxLease, PoisonEntry } from '../outbox/outbox.js';

export interface HookJob extends OutboxEntry {
  /** When it was committed, in Unix milliseconds by the store's clock. */
  readonly committedAtMs: number;
}

export interface HookBatch {
  /** In the order of their commits. */
  readonly jobs: readonly HookJob[];
  /** What could not be understood; the owner sets it aside. */
  readonly poison: readonly { readonly entryId: string; readonly reason: string }[];
  /** The last one that was looked at, to go on after; undefined: there was none. */
  readonly last: string | undefined;
}

export interface HookQueue {
  /**
   * Adds entries of the lease's partition, in the order in which the outbox gave them. One that was added before is passed
   * over, also when it has been told since: an owner that died may not have acknowledged it. What is then beyond `keep`
   * goes to the dead letters, the oldest first. False: the lease was lost, and nothing was added. Cost: 1.
   */
  append(lease: OutboxLease, entries: readonly OutboxEntry[], keep: number): Promise<boolean>;

  /** Those after the entry `after` (undefined: from the first), at most `limit`. Cost: 1. */
  read(partition: number, after: string | undefined, limit: number): Promise<HookBatch>;

  /** Those that were told. False: the lease was lost, and nothing was removed. Cost: 1. */
  remove(lease: OutboxLease, entryIds: readonly string[]): Promise<boolean>;

  /** Makes one a dead letter, with the reason. False: the lease was lost. Cost: 1. */
  setAside(lease: OutboxLease, entryId: string, reason: string): Promise<boolean>;

  /** The dead letters, the newest of each partition first, at most `limit` (1..OUTBOX_POISON_READ_MAX) in all. Cost: 1. */
  dead(limit: number): Promise<readonly PoisonEntry[]>;

  /** What waits, and how long the oldest has since its commit (0 when none does). Cost: 1. */
  backlog(): Promise<{ readonly waiting: number; readonly oldestMs: number; readonly dead: number }>;
}

/** The reason of a dead letter that newer ones have driven out. */
export const QUEUE_FULL = 'queueFull';
