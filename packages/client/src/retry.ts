/** The one place where a call is made again: after a failure that may pass, within a bound of time, with growing pauses. */
import { CALL_PAUSES, pauseMs } from './backoff.js';
import type { Calls } from './calls.js';
import type { Environment } from './environment.js';
import { asClientError, mayPass, QimClientError, withOutcome } from './errors.js';

export interface RetryBounds {
  /** From the first try on. */
  readonly withinMs: number;
  readonly pause: Calls['pause'];
}

/**
 * `attempt` must be harmless to repeat; it is told how much time is left. An error that ends it says `outcomeUnknown` when
 * any of the tries may have taken effect.
 */
export async function retrying<T>(environment: Environment, bounds: RetryBounds, attempt: (leftMs: number) => Promise<T>): Promise<T> {
  const endsAtMs = environment.now() + bounds.withinMs;
  let outcomeUnknown = false;
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt(endsAtMs - environment.now());
    } catch (error) {
      if (!(error instanceof QimClientError)) throw error;
      outcomeUnknown ||= error.outcomeUnknown;
      // A lost link needs no pause: the next try waits for the new one.
      const pause =
        error.reason === 'CONNECTION_LOST' ? 0 : Math.max(error.retryAfterMs, pauseMs(failures, CALL_PAUSES, environment.random));
      if (!mayPass(error) || environment.now() + pause >= endsAtMs) throw withOutcome(error, outcomeUnknown);
      await bounds.pause(pause).catch((end: unknown) => {
        throw withOutcome(asClientError(end, 'the call'), outcomeUnknown);
      });
    }
  }
}
