/** The settings sendRates and tenantQuotas: how much may be sent, by whom, in how long. */
import type { Rate, SendLimits } from '@qim/gateway';
import {
  RATE_COUNT_MAX,
  RATE_WINDOW_MS_MAX,
  RATE_WINDOW_MS_MIN,
  SEND_RATE_ADDRESS_MAX,
  SEND_RATE_DEVICE_MAX,
  SEND_RATE_TENANT_MAX,
  SEND_RATE_USER_MAX,
  SEND_RATE_WINDOW_MS,
  TENANT_QUOTAS_MAX,
  type TenantId,
} from '@qim/proto';
import { duration, durationText, integer, tenantFrom } from './setting.js';

const SCOPES = ['user', 'device', 'address', 'tenant'] as const;
type Scope = (typeof SCOPES)[number];

/** Scopes that are not named have no limit. */
export type SendRatesRule = Readonly<Partial<Record<Scope, Rate>>>;

/** By tenant; under undefined what all others have. An undefined rate: none. */
export type TenantQuotas = ReadonlyMap<TenantId | undefined, Rate | undefined>;

const of = (count: number): Rate => ({ count, windowMs: SEND_RATE_WINDOW_MS });

export const SEND_RATES_DEFAULT: SendRatesRule = {
  user: of(SEND_RATE_USER_MAX),
  device: of(SEND_RATE_DEVICE_MAX),
  address: of(SEND_RATE_ADDRESS_MAX),
  tenant: of(SEND_RATE_TENANT_MAX),
};

/** As it would be typed. */
export function sendRatesText(rule: SendRatesRule): string {
  const rates = SCOPES.flatMap((scope) => {
    const rate = rule[scope];
    return rate === undefined ? [] : [`${scope}=${rate.count}/${durationText(rate.windowMs)}`];
  });
  return rates.length === 0 ? 'off' : rates.join(',');
}

const windows = duration(RATE_WINDOW_MS_MIN, RATE_WINDOW_MS_MAX);
const counts = integer(1, RATE_COUNT_MAX);

/** `1000/10s`. Undefined: no such text. */
function parseRate(text: string): Rate | undefined {
  const [count = '', window = '', ...rest] = text.split('/');
  const rate = { count: counts.parse(count), windowMs: windows.parse(window) };
  if (rest.length > 0 || rate.count === undefined || rate.windowMs === undefined) return undefined;
  // The counter in Redis expires by whole seconds.
  return rate.windowMs % 1_000 === 0 ? { count: rate.count, windowMs: rate.windowMs } : undefined;
}

/** Undefined: no such text. */
export function parseSendRates(text: string): SendRatesRule | undefined {
  if (text === 'off') return {};
  const rule: Partial<Record<Scope, Rate>> = {};
  for (const part of text.split(',')) {
    const [name, given = ''] = part.split('=');
    const scope = SCOPES.find((one) => one === name);
    const rate = parseRate(given);
    if (scope === undefined || rate === undefined || rule[scope] !== undefined || part.split('=').length !== 2) return undefined;
    rule[scope] = rate;
  }
  return rule;
}

/** `1000000/1d,7=5000000/1d,8=off`. Undefined: no such text. */
export function parseTenantQuotas(text: string): TenantQuotas | undefined {
  const quotas = new Map<TenantId | undefined, Rate | undefined>();
  for (const part of text.split(',')) {
    const [, digits, given = ''] = /^(?:(\d{1,10})=)?([^=]+)$/.exec(part) ?? [];
    const tenant = digits === undefined ? undefined : tenantFrom(digits);
    const rate = given === 'off' ? undefined : parseRate(given);
    if (tenant === 'none' || quotas.has(tenant) || (rate === undefined && given !== 'off')) return undefined;
    quotas.set(tenant, rate);
  }
  return quotas.size > TENANT_QUOTAS_MAX ? undefined : quotas;
}

/** `rates` undefined: the defaults, or nothing on one's own machine. Undefined: nothing is limited. */
export function sendLimitsOf(rates: SendRatesRule | undefined, quotas: TenantQuotas | undefined, dev: boolean): SendLimits | undefined {
  const { user, device, address, tenant } = rates ?? (dev ? {} : SEND_RATES_DEFAULT);
  const quota = (tenantId: TenantId) => (quotas?.has(tenantId) === true ? quotas.get(tenantId) : quotas?.get(undefined));
  const limits = { user, device, address, tenant, quota };
  const none = quotas === undefined && [user, device, address, tenant].every((rate) => rate === undefined);
  return none ? undefined : limits;
}
