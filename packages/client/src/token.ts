/** What the client reads of a token: when it expires. Whether it is good is the server's to say. */
import { TIMER_MS_MAX, TOKEN_RENEW_BEFORE_MS, TOKEN_RENEW_PAUSE_MS } from '@qim/proto';

/**
 * connect: any that is still good. renew: a new one, before the last one expires. refused: the last one was not taken, or
 * has expired; a new one is wanted.
 */
export type TokenWanted = 'connect' | 'renew' | 'refused';
export type TokenSource = (why: TokenWanted) => string | Promise<string>;

/** Unix milliseconds; undefined: it does not say, or is no JWT. */
export function expiryOf(token: string): number | undefined {
  try {
    const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
    const claims: unknown = JSON.parse(atob(payload));
    if (typeof claims !== 'object' || claims === null || !('exp' in claims)) return undefined;
    return typeof claims.exp === 'number' ? claims.exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}

/**
 * For a token with this much left by this device's clock: TOKEN_RENEW_BEFORE_MS before its end, or after three quarters of
 * what is left when that is sooner than twice that. Never at once again and again, as with a clock that is wrong. `renew` false: no timer waits
 * that long; look again then.
 */
export function untilRenewalMs(leftMs: number): { readonly ms: number; readonly renew: boolean } {
  const before = Math.min(TOKEN_RENEW_BEFORE_MS, leftMs / 4);
  const ms = Math.max(TOKEN_RENEW_PAUSE_MS, leftMs - before);
  return { ms: Math.min(ms, TIMER_MS_MAX), renew: ms <= TIMER_MS_MAX };
}
