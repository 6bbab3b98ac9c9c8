/** The real time, for the composition root to hand on: nothing else in the server reads a clock or sets a timer. */
import { setTimeout as wait } from 'node:timers/promises';

export interface Clock {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds that never go back and never jump. */
  readonly monotonicNow: () => number;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

export const realClock: Clock = {
  now: Date.now,
  monotonicNow: () => performance.now(),
  async sleep(ms, signal) {
    try {
      await wait(ms, undefined, { signal });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  },
};
