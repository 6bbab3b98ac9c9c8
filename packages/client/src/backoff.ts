/** How long to wait before the next try. */
import {
  CALL_RETRY_PAUSE_MS_MAX,
  CALL_RETRY_PAUSE_MS_MIN,
  RECONNECT_PAUSE_MS_MAX,
  RECONNECT_PAUSE_MS_MIN,
  RECONNECT_PROMPT_MS_MAX,
} from '@qim/proto';

export interface PauseBounds {
  readonly minMs: number;
  readonly maxMs: number;
}

export const RECONNECT_PAUSES: PauseBounds = { minMs: RECONNECT_PAUSE_MS_MIN, maxMs: RECONNECT_PAUSE_MS_MAX };
export const CALL_PAUSES: PauseBounds = { minMs: CALL_RETRY_PAUSE_MS_MIN, maxMs: CALL_RETRY_PAUSE_MS_MAX };

/**
 * The pause before try `failures` + 1, in milliseconds: min x 2^(failures - 1), at most max, of which a random part of up
 * to half is taken off, so that many clients that failed together do not return together. `failures` >= 1.
 */
export function pauseMs(failures: number, bounds: PauseBounds, random: () => number): number {
  // 2^30 x 1 ms is past any max: the exponent needs no more.
  const whole = Math.min(bounds.maxMs, bounds.minMs * 2 ** Math.min(failures - 1, 30));
  return whole - (whole / 2) * random();
}

/** For a server that said it will be back at once. */
export function promptPauseMs(random: () => number): number {
  return RECONNECT_PROMPT_MS_MAX * random();
}
