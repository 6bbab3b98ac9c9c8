/** What a backend gives to the suites. */
import type { Store } from '../../store.js';
import type { ConversationTarget, DamageKind, DamageTarget } from '../damage-kinds.js';

export interface OpenedBackend {
  /** Another one after `reopen`. */
  readonly store: Store;
  /** Moves the clock by which the store stamps, also back. */
  advance(ms: number): void | Promise<void>;
  skipSequences(target: ConversationTarget, count: number): Promise<void>;
  /** Absent where there are no bytes to damage. */
  damage?(target: DamageTarget, kind: DamageKind): Promise<void>;
  /** Ends the store and opens it again on the same data. Absent where nothing survives that. */
  reopen?(): Promise<void>;
  close(): Promise<void>;
}

export interface BackendUnderTest {
  readonly name: string;
  /** Kinds of damage that its `damage` knows. */
  readonly damageKinds?: readonly DamageKind[];
  /** An empty store of its own; called once for each suite. */
  open(): Promise<OpenedBackend>;
}
