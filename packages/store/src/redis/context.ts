/** What all parts of an open Redis store share. */
import type { StoreObserver } from '../store.js';
import type { RedisConnection } from './connection.js';
import type { KeySpace } from './keys.js';
import type { Scripts } from './scripts.js';
import type { WeekGuess } from './week-guess.js';
import type { Wire } from './wire.js';

export interface RedisContext {
  readonly connection: RedisConnection;
  /** A short cut for reads of pages; undefined: there is none, and `connection` does it all. */
  readonly wire?: Wire | undefined;
  readonly scripts: Scripts;
  readonly keys: KeySpace;
  readonly weeks: WeekGuess;
  readonly observer: StoreObserver;
  /** What may share a script call: anything, because one server has all keys; what is of one partition; nothing. */
  readonly callsTogether: 'always' | 'samePartition' | 'never';
  /** Unix milliseconds, by this process. */
  readonly now: () => number;
  /** Added to the server's clock in every script; 0 but in tests. */
  readonly clockOffsetMs: () => number;
}
