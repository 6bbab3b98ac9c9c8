/** A value that can be watched; fits React's useSyncExternalStore. */

export interface Observable<T> {
  /** Calls `listener` after each change, never at once. The function ends it. */
  readonly subscribe: (listener: () => void) => () => void;
  /** The value now: the same object until it changes. */
  readonly snapshot: () => T;
}

/** Listeners are called in the order in which they came, and cannot disturb one another. */
export class Listeners<A extends readonly unknown[]> {
  readonly #listeners = new Set<{ readonly call: (...args: A) => void }>();

  add(call: (...args: A) => void): () => void {
    const entry = { call };
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  emit(...args: A): void {
    for (const { call } of [...this.#listeners]) {
      try {
        call(...args);
      } catch (error) {
        // Its owner's bug: shown as any uncaught one, while the SDK goes on.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}

export class Cell<T> implements Observable<T> {
  readonly #listeners = new Listeners<[]>();
  #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#listeners.add(listener);
  readonly snapshot = (): T => this.#value;

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    this.#listeners.emit();
  }
}
