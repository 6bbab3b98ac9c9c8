/**
 * How a receiver knows that a call is ours, and not an old one: HMAC-SHA256 over the time and the body. While a secret is
 * changed there are two, and a signature by each: a receiver that knows one of them can tell. docs/webhooks.md
 */
import { createHmac } from 'node:crypto';
import type { Secrets } from '../secrets.js';

/** `v1=…`, one for each secret, separated by a comma. `timestamp`: Unix seconds as they are sent. */
export function signatureOf(secrets: Secrets, timestamp: string, body: string): string {
  const known = secrets.filter((secret) => secret !== undefined);
  return known.map((secret) => `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`).join(',');
}
