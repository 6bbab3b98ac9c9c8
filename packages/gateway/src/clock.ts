/** Time as the gateway sees it: an argument, so that tests steer it; and Node's own, where it is told no other. */

export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Calls `action` once after `ms`, 0..TIMER_MS_MAX; the function that is returned cancels it. */
  after(ms: number, action: () => void): () => void;
}

/** Node's timers count in 32 bits and fire at once past them; tokens live longer. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

export function nodeMonotonicNow(): number {
  return performance.now();
}

/** Timers that keep no process alive. */
export function nodeTimer(ms: number, action: () => void): () => void {
  const timer = setTimeout(action, ms);
  timer.unref();
  return () => clearTimeout(timer);
}

/** Calls `action` once the clock shows `timeMs`, however far away that is. */
export function at(clock: Clock, timeMs: number, action: () => void): () => void {
  let cancel = () => {};
  const wait = () => {
    const leftMs = timeMs - clock.now();
    if (leftMs <= 0) action();
    else cancel = clock.after(Math.min(leftMs, TIMER_MS_MAX), wait);
  };
  wait();
  return () => cancel();
}
