/** Rates that all processes count together: one key for each window, which expires with it. */
import { assert } from '@qim/proto';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { ErrorReply } from 'redis';
import { unavailable } from '../errors.js';
import { type Limit, type Limiter, LimiterRates } from '../rates/limiter-rates.js';
import type { Rates } from '../rates/rates.js';
import type { Command, RedisConnection, Reply } from './connection.js';
import { ratePrefix } from './keys.js';

export function redisRates(connection: Pick<RedisConnection, 'pipeline'>): Rates {
  const client = new Evaluating(connection);
  return new LimiterRates((limit) => redisLimiter(client, limit));
}

/** The library has it, and its types leave it out. */
type Asked = RateLimiterRedis & { getInMemoryBlockMsBeforeExpire(key: string): number };

function redisLimiter(client: Evaluating, { points, duration }: Limit): Limiter {
  const limiter = new RateLimiterRedis({
    storeClient: client,
    useRedisPackage: true,
    points,
    duration,
    keyPrefix: ratePrefix(duration),
    // From the one that was too many on, until the window ends, this process refuses by itself.
    inMemoryBlockOnConsumed: points + 1,
  }) as Asked;
  return {
    consume: (key, count) => limiter.consume(key, count),
    reward: (key, count) => limiter.reward(key, count),
    blockedMs: (key) => limiter.getInMemoryBlockMsBeforeExpire(limiter.getKey(key)),
  };
}

/** What the library uses of its client, over the store's own connection: what is asked for at one moment goes in one flush. */
class Evaluating {
  readonly #connection: Pick<RedisConnection, 'pipeline'>;
  #waiting: { readonly command: Command; readonly settle: (reply: Promise<Reply>) => void }[] = [];

  constructor(connection: Pick<RedisConnection, 'pipeline'>) {
    this.#connection = connection;
  }

  eval(script: string, { keys, arguments: args }: { keys: readonly string[]; arguments: readonly string[] }): Promise<Reply> {
    assert(keys.length === 1, 'a window is one key');
    if (this.#waiting.length === 0) queueMicrotask(() => this.#flush());
    return new Promise((settle) => {
      this.#waiting.push({ command: ['EVAL', script, '1', ...keys, ...args], settle });
    });
  }

  #flush(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    const replies = this.#connection.pipeline(batch.map(({ command }) => command));
    for (const [index, { settle }] of batch.entries()) settle(replies.then((all) => sound(all[index])));
  }
}

/** A key that holds something else. */
function sound(reply: Reply | undefined): Reply {
  if (reply instanceof ErrorReply) throw unavailable('a window of a rate has a wrong type', reply);
  return reply ?? null;
}
