/** Rates by the limiters of a library: one for each count and length of a window, which the settings name a few of. */
import { assert, isQimError } from '@qim/proto';
import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import { unavailable } from '../errors.js';
import { keyPart } from '../key-part.js';
import type { Rates, RateWindow } from './rates.js';

export interface Limit {
  /** How many. */
  readonly points: number;
  /** Seconds. */
  readonly duration: number;
}

/** One that a key can be asked of before it is counted. */
export interface Limiter extends Pick<RateLimiterAbstract, 'consume' | 'reward'> {
  /** Milliseconds until the window ends that is known to be full; 0: not known. */
  blockedMs(key: string): number;
}

interface Counted {
  readonly limiter: Limiter;
  readonly key: string;
}

export class LimiterRates implements Rates {
  readonly #make: (limit: Limit) => Limiter;
  readonly #limiters = new Map<string, Limiter>();

  constructor(make: (limit: Limit) => Limiter) {
    this.#make = make;
  }

  async take(windows: readonly RateWindow[]): Promise<number> {
    const asked = windows.map((window) => this.#counted(window));
    const known = Math.max(0, ...asked.map(({ limiter, key }) => limiter.blockedMs(key)));
    if (known > 0) return known;
    const waits = await Promise.all(asked.map(consume));
    const wait = Math.max(0, ...waits);
    // What was refused by one window alone must not eat the others.
    if (wait > 0) await Promise.all(asked.filter((_, index) => waits[index] === 0).map(giveBack));
    return wait;
  }

  #counted({ of, count, windowMs }: RateWindow): Counted {
    const duration = windowMs / 1_000;
    assert(Number.isInteger(duration) && duration > 0, 'a window is whole seconds');
    const name = `${count}/${duration}`;
    const limiter = this.#limiters.get(name) ?? this.#make({ points: count, duration });
    this.#limiters.set(name, limiter);
    return { limiter, key: of.map(keyPart).join(':') };
  }
}

/** The library refuses by rejecting with what it counted. */
async function consume({ limiter, key }: Counted): Promise<number> {
  try {
    await limiter.consume(key, 1);
    return 0;
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes) return Math.max(1, refusal.msBeforeNext);
    throw failed(refusal);
  }
}

async function giveBack({ limiter, key }: Counted): Promise<void> {
  try {
    await limiter.reward(key, 1);
  } catch (error) {
    throw failed(error);
  }
}

function failed(error: unknown): unknown {
  return isQimError(error) ? error : unavailable('a rate could not be counted', error);
}
