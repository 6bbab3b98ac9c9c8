/** From the headers of a request, or the token of a hello, to the one who calls. */
import { type Caller, forbidden, invalidArgument, parseDeviceId, parseUserId, SYSTEM_USER_ID, type UserId } from '@qim/proto';
import type { GatewayOptions, TokenClaims, TokenVerifier } from './contract.js';
import { unauthenticated } from './tokens.js';

export const ON_BEHALF_OF = 'qim-on-behalf-of';

export interface Identity {
  readonly caller: Caller;
  readonly actingAdmin: UserId | undefined;
  /** Unix milliseconds. */
  readonly expiresAtMs: number;
}

/** @throws Unauthenticated | TokenExpired | Forbidden | InvalidArgument (Qim-On-Behalf-Of) | StoreUnavailable */
export async function identityOf(
  verifier: TokenVerifier,
  authorization: string | null | undefined,
  onBehalfOf: string | null | undefined,
): Promise<Identity> {
  const token = bearerToken(authorization);
  if (token === undefined) throw unauthenticated();
  return actingFor(await verifier.verify(token), onBehalfOf);
}

/** Undefined: there is none. Another scheme is none. */
export function bearerToken(authorization: string | null | undefined): string | undefined {
  return authorization?.match(/^Bearer +(\S+) *$/i)?.[1];
}

/**
 * The claims' own user, or the one whom an admin names. Nothing else changes with it: tenant, device and rights stay those
 * of the token.
 */
export function actingFor(claims: TokenClaims, onBehalfOf: string | null | undefined): Identity {
  const { tenantId, userId, deviceId, admin, expiresAtMs } = claims;
  if (onBehalfOf === null || onBehalfOf === undefined) {
    return { caller: { tenantId, userId, deviceId, admin }, actingAdmin: undefined, expiresAtMs };
  }
  if (!admin) throw forbidden('a token with admin: true');
  return { caller: { tenantId, userId: userIdOfHeader(onBehalfOf), deviceId, admin }, actingAdmin: userId, expiresAtMs };
}

/** Of the token's own user: an admin may act for one who is suspended. Cost: 1. @throws Unauthenticated | StoreUnavailable */
export async function refuseSuspended(isSuspended: GatewayOptions['isSuspended'], { caller, actingAdmin }: Identity): Promise<void> {
  if (await isSuspended(caller.tenantId, actingAdmin ?? caller.userId, caller.deviceId)) throw unauthenticated();
}

/** Of one HTTP call: a suspension holds from the next one on. Cost: 1. @throws as identityOf */
export async function signedIn(
  { verifier, isSuspended }: { readonly verifier: TokenVerifier; readonly isSuspended: GatewayOptions['isSuspended'] },
  authorization: string | null | undefined,
  onBehalfOf: string | null | undefined,
): Promise<Identity> {
  const identity = await identityOf(verifier, authorization, onBehalfOf);
  await refuseSuspended(isSuspended, identity);
  return identity;
}

/** HTTP hands header bytes on as Latin-1; user ids are UTF-8. */
function userIdOfHeader(header: string): UserId {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'latin1'));
  } catch {
    throw invalidArgument('Qim-On-Behalf-Of', 'a user id in UTF-8');
  }
  if (text === SYSTEM_USER_ID) throw invalidArgument('Qim-On-Behalf-Of', 'a user, not the system');
  return parseUserId(text, 'Qim-On-Behalf-Of');
}

/** The hello's device counts where the token names none; empty: none. */
export function withDevice(identity: Identity, device: string): Identity {
  if (device === '') return identity;
  const deviceId = parseDeviceId(device, 'device');
  if (identity.caller.deviceId !== undefined) return identity;
  return { ...identity, caller: { ...identity.caller, deviceId } };
}
