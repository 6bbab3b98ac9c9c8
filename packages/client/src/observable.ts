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

/** What a part of another observable says: the same object for as long as the other's is the same. */
export function derived<S, T>(source: Observable<S>, select: (value: S) => T): Observable<T> {
  let from: S | undefined;
  let held: { readonly value: T } | undefined;
  return {
    subscribe: source.subscribe,
    snapshot: () => {
      const now = source.snapshot();
      if (held === undefined || !Object.is(now, from)) {
        from = now;
        held = { value: select(now) };
      }
      return held.value;
    },
  };
}

/** A cell that is told when somebody begins to watch it, and knows whether anybody does. */
export class WatchedCell<T> implements Observable<T> {
  readonly #cell: Cell<T>;
  readonly #onFirst: () => void;
  #watchers = 0;

  constructor(value: T, onFirst: () => void) {
    this.#cell = new Cell(value);
    this.#onFirst = onFirst;
  }

  get watched(): boolean {
    return this.#watchers > 0;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    const end = this.#cell.subscribe(listener);
    this.#watchers += 1;
    if (this.#watchers === 1) this.#onFirst();
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      this.#watchers -= 1;
      end();
    };
  };
  readonly snapshot = (): T => this.#cell.snapshot();

  set(value: T): void {
    this.#cell.set(value);
  }
}
