/**
 * Which week the server's clock is in: part of key names, so it must be known before the script that reads the clock.
 *
 * A guess from this process's clock and from how far the server's was away when it last said so. A script that finds
 * the guess wrong does nothing and tells the right week.
 */
import { DEDUP_WEEK_MS } from '@qim/proto';

export class WeekGuess {
  readonly #now: () => number;
  #aheadMs: number;

  /** `aheadMs`: the server's clock minus this process's. */
  constructor(now: () => number, aheadMs: number) {
    this.#now = now;
    this.#aheadMs = aheadMs;
  }

  /** Whole weeks since the Unix epoch. */
  week(): number {
    return Math.floor((this.#now() + this.#aheadMs) / DEDUP_WEEK_MS);
  }

  /** The server has just said which week it is in. */
  learn(week: number): void {
    this.#aheadMs += (week - this.week()) * DEDUP_WEEK_MS;
  }
}
