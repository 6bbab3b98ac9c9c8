import { PUSH_RETRY_MAX_MS, PUSH_RETRY_MIN_MS } from '@qim/proto';

/** Doubles from PUSH_RETRY_MIN_MS to PUSH_RETRY_MAX_MS. */
export function retryWait(failures: number): number {
  return Math.min(PUSH_RETRY_MAX_MS, PUSH_RETRY_MIN_MS * 2 ** Math.min(failures, 30));
}
