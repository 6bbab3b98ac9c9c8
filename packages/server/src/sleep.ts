/** A pause that a stop ends at once. */
import { setTimeout as wait } from 'node:timers/promises';

/** Resolves after `ms`, or at once when the signal aborts; never rejects. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
