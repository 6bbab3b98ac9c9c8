/** Rates of this process alone: of the embedded store, which has one server, and of the reference model. */
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { LimiterRates } from './limiter-rates.js';
import type { Rates } from './rates.js';

/** Windows that ended are forgotten by timers, which keep no process alive. */
export function localRates(): Rates {
  return new LimiterRates((limit) => {
    const limiter = new RateLimiterMemory({ ...limit, keyPrefix: '' });
    return {
      consume: (key, points) => limiter.consume(key, points),
      reward: (key, points) => limiter.reward(key, points),
      blockedMs: () => 0,
    };
  });
}
