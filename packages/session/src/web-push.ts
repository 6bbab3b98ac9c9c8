/** Where a user's browsers take notifications: what a page registers, checked before it is kept. */
import { createPublicKey } from 'node:crypto';
import {
  type Caller,
  invalidArgument,
  payloadTooLarge,
  QimError,
  utf8Bytes,
  WEB_PUSH_AUTH_BYTES,
  WEB_PUSH_ENDPOINT_BYTES_MAX,
  WEB_PUSH_P256DH_BYTES,
} from '@qim/proto';
import type { WebPushConfig } from './config.js';
import type { SessionContext } from './context.js';
import type { WebPushInput } from './contract.js';

/** Cost: 1. @throws Unimplemented | InvalidArgument | PayloadTooLarge (endpoint) | ResourceLimit */
export async function registerWebPush(context: SessionContext, { tenantId, userId, deviceId }: Caller, input: WebPushInput): Promise<void> {
  const { accepts } = switchedOn(context);
  const { endpoint, p256dh, auth } = input;
  if (endpoint.length > WEB_PUSH_ENDPOINT_BYTES_MAX || utf8Bytes(endpoint) > WEB_PUSH_ENDPOINT_BYTES_MAX) {
    throw payloadTooLarge('endpoint', WEB_PUSH_ENDPOINT_BYTES_MAX);
  }
  if (!accepts(endpoint)) throw invalidArgument('endpoint', 'an https URL of a push service whose host is public');
  if (!isPointOfP256(p256dh)) throw invalidArgument('p256dh', `${WEB_PUSH_P256DH_BYTES} bytes in base64url: a point of P-256`);
  if (bytesOf(auth)?.length !== WEB_PUSH_AUTH_BYTES) throw invalidArgument('auth', `${WEB_PUSH_AUTH_BYTES} bytes in base64url`);
  await context.users.addWebPush(tenantId, userId, { endpoint, p256dh, auth, deviceId });
}

/** Cost: 2. @throws Unimplemented */
export async function unregisterWebPush(context: SessionContext, { tenantId, userId }: Caller, endpoint: string): Promise<void> {
  switchedOn(context);
  await context.users.removeWebPush(tenantId, userId, endpoint);
}

function switchedOn({ config }: SessionContext): WebPushConfig {
  if (config.webPush === undefined) throw new QimError('Unimplemented', { what: 'Web Push' }, 'this server sends no Web Push');
  return config.webPush;
}

/** One that is none could not be encrypted to, and would be found out at each message. */
function isPointOfP256(text: string): boolean {
  const bytes = bytesOf(text);
  if (bytes?.length !== WEB_PUSH_P256DH_BYTES || bytes[0] !== UNCOMPRESSED) return false;
  const half = (WEB_PUSH_P256DH_BYTES - 1) / 2;
  const [x, y] = [bytes.subarray(1, 1 + half).toString('base64url'), bytes.subarray(1 + half).toString('base64url')];
  try {
    createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
    return true;
  } catch {
    return false;
  }
}

const UNCOMPRESSED = 4;

/** Undefined: no base64url without padding, or not the one text of its bytes. */
function bytesOf(text: string): Buffer | undefined {
  // No key or secret is longer.
  if (text.length > 2 * WEB_PUSH_P256DH_BYTES) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}
