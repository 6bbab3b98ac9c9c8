/**
 * How often something was done within a time: counted by all processes of a store together. Nothing of it is a record; it is
 * forgotten when its window ends.
 */
export interface RateWindow {
  /** What is counted, such as `['user', '7', 'alice']`. Parts may hold anything; different lists are counted apart. */
  readonly of: readonly string[];
  /** 1..RATE_COUNT_MAX. */
  readonly count: number;
  /** Whole seconds, in milliseconds: RATE_WINDOW_MS_MIN..RATE_WINDOW_MS_MAX. A window begins with the first that is counted in it. */
  readonly windowMs: number;
}

export interface Rates {
  /**
   * Counts one in each of the windows; or in none, when one of them is full. What others do at the same moment may see
   * one that is given back right after.
   *
   * Cost: 1; 2 when a window is full; 0 while this process knows that it is.
   *
   * @returns milliseconds until the fullest window ends; 0: it was counted
   * @throws StoreUnavailable
   */
  take(windows: readonly RateWindow[]): Promise<number>;
}
