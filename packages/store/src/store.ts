/** One open store: its contracts over one connection or one folder, and what all of them need to be told. */
import type { AckDurability, CorruptReason } from '@qim/proto';
import type { Bus } from './bus/bus.js';
import type { Directory } from './directory/directory.js';
import type { HookQueue } from './hooks/hook-queue.js';
import type { MessageStore } from './message/message-store.js';
import type { Outbox } from './outbox/outbox.js';
import type { Rates } from './rates/rates.js';
import type { Users } from './users/users.js';

export interface Store {
  readonly messages: MessageStore;
  readonly directory: Directory;
  readonly users: Users;
  readonly rates: Rates;
  readonly outbox: Outbox;
  /** What the operator's webhook is still to be told. */
  readonly hooks: HookQueue;
  readonly bus: Bus;
  /** What an acknowledged commit is worth. */
  readonly ackDurability: AckDurability;
  /**
   * Replicas that have a write to a conversation before it is acknowledged, and how many the primary with the fewest had at
   * start. Absent: the store knows none.
   */
  readonly ackReplicas?: { readonly wanted: number; readonly seen: number };
  /** For people, such as 'redis 7.0.15 at 127.0.0.1:6379'; never a password. */
  readonly description: string;
  /** @throws StoreUnavailable */
  ping(): Promise<void>;
  /** Ends connections and waits for what is in flight. */
  close(): Promise<void>;
}

/** Told of things that metrics count. Must not throw. */
export interface StoreObserver {
  /** A read or a commit met damage. */
  damage?(reason: CorruptReason): void;
  /** A conversation was read once more before it was called broken, or because its floor was another. */
  redo?(): void;
  /** One flush to the backend. */
  roundTrip?(): void;
  /**
   * Another server takes the writes of a partition. risen: acknowledged ones may have been lost, so its conversations come
   * into a new epoch; noted: nothing was.
   */
  takeOver?(kind: 'noted' | 'risen'): void;
}

/** What every backend takes. Time arrives as an argument, so that tests can steer it. */
export interface StoreOptions {
  /** Unix milliseconds. Redis stamps by its own TIME plus `clockOffsetMs`; this one serves the rest. */
  readonly now?: () => number;
  readonly observer?: StoreObserver;
  /** False: no short cuts, all by the plain path; for finding out whether a short cut is at fault. Default true. */
  readonly fastPaths?: boolean;
}
