/**
 * How much one user, device, tenant or address may send: which windows a call counts in. The counting itself is the store's,
 * so that all processes count together.
 *
 * An admin token is the application's own backend: it is no device and no stranger's address, and counts for a user only
 * when it acts for one.
 */
import { type MethodName, QimError, RATE_COUNTED } from '@qim/proto';
import type { Identity } from './authenticate.js';
import { addressBlock } from './client-address.js';
import type { Rate, RateCounter, SendLimits, SendRates } from './contract.js';

type Window = Parameters<RateCounter['take']>[0][number];

/** Nothing is asked for what is not counted. Cost: 1. @throws RateLimited | StoreUnavailable */
export async function countSend({ limits, counter }: SendRates, name: MethodName, identity: Identity, address: string): Promise<void> {
  if (!RATE_COUNTED.has(name)) return;
  const windows = windowsOf(limits, identity, address);
  if (windows.length === 0) return;
  const retryAfterMs = await counter.take(windows);
  if (retryAfterMs > 0) throw new QimError('RateLimited', { retryAfterMs }, 'too much is sent');
}

function windowsOf(limits: SendLimits, { caller, actingAdmin }: Identity, address: string): readonly Window[] {
  const { tenantId, userId, deviceId, admin } = caller;
  const tenant = String(tenantId);
  return [
    ...window(admin && actingAdmin === undefined ? undefined : limits.user, 'user', tenant, userId),
    ...window(admin || deviceId === undefined ? undefined : limits.device, 'device', tenant, userId, deviceId ?? ''),
    ...window(admin ? undefined : limits.address, 'address', addressBlock(address)),
    ...window(limits.tenant, 'tenant', tenant),
    ...window(limits.quota(tenantId), 'quota', tenant),
  ];
}

function window(rate: Rate | undefined, ...of: readonly string[]): readonly Window[] {
  return rate === undefined ? [] : [{ ...rate, of }];
}
