/** The store that a model check is about: opened, restarted and moved in time from outside. */
import type { Store } from '../../store.js';
import type { ConversationTarget } from '../damage-kinds.js';

export interface Subject {
  readonly name: string;
  /** Another one after `restart`. */
  readonly store: Store;
  /** Unix milliseconds by the clock that the store stamps with; where that is a server's, within some milliseconds. */
  now(): number;
  /** Moves that clock, also back. */
  advance(ms: number): void;
  /** The next `count` sequences will not be given. */
  skipSequences(target: ConversationTarget, count: number): Promise<void>;
  /**
   * Ends the store as hard as it can be ended in a test, and opens it again on the same data. `meanwhile` is started just
   * before: it may have had its effect, or not. Absent where nothing survives.
   */
  restart?(meanwhile: () => Promise<unknown>): Promise<void>;
  close(): Promise<void>;
}
