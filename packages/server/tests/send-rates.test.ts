/** How much may be sent, against a real server: who is counted, what is refused, and where nothing is. */
import { randomUUID } from 'node:crypto';
import { TENANT_QUOTAS_MAX } from '@qim/proto';
import { openMemoryStore } from '@qim/store/memory';
import { afterEach, describe, expect, test } from 'vitest';
import { parseTenantQuotas, SEND_RATES_DEFAULT, sendLimitsOf, sendRatesText } from '../src/send-rates.js';
import type { SettingName } from '../src/settings.js';
import { type Claims, startTestServer, type TestServer } from './running.js';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function started(flags: Partial<Record<SettingName, string>>): Promise<TestServer> {
  server = await startTestServer(flags, { store: openMemoryStore({ now: Date.now }) });
  return server;
}

/** Status and reason of a direct message; a refusal's Retry-After beside it. */
async function send(running: TestServer, claims: Claims, headers: Record<string, string> = {}): Promise<string> {
  const body = { toUserId: 'somebody', clientMessageId: randomUUID(), type: 'MESSAGE_TYPE_TEXT', text: 'x' };
  const response = await running.call('qim.v1.MessageService/SendMessage', await running.token(claims), body, headers);
  const reason = /"reason":\s*"([A-Z_]+)"/.exec(await response.text())?.[1];
  if (reason === undefined) return String(response.status);
  const retryAfter = Number(response.headers.get('retry-after'));
  return `${response.status} ${reason}${retryAfter >= 1 && retryAfter <= 3_600 ? ', come back' : ''}`;
}

const REFUSED = '429 RATE_LIMITED, come back';

describe('the one past the limit is refused, and says when to come back', () => {
  test('of a user, on all devices together; others go on', async () => {
    const running = await started({ sendRates: 'user=2/1h' });
    expect(await send(running, { user: 'alice', device: 'a' })).toBe('200');
    expect(await send(running, { user: 'alice', device: 'b' })).toBe('200');
    expect(await send(running, { user: 'alice', device: 'c' })).toBe(REFUSED);
    expect(await send(running, { user: 'bob' })).toBe('200');
    expect(await send(running, { user: 'alice', tenant: 7 })).toBe('200');
  });

  test('of a device; the other devices of the user go on', async () => {
    const running = await started({ sendRates: 'device=1/1h' });
    expect(await send(running, { user: 'alice', device: 'a' })).toBe('200');
    expect(await send(running, { user: 'alice', device: 'a' })).toBe(REFUSED);
    expect(await send(running, { user: 'alice', device: 'b' })).toBe('200');
  });

  test('of an address, whoever sends from there', async () => {
    const running = await started({ sendRates: 'address=2/1h' });
    expect([await send(running, { user: 'alice' }), await send(running, { user: 'bob' })]).toEqual(['200', '200']);
    // What a stranger writes into the header moves nobody to another address.
    expect(await send(running, { user: 'carol' }, { 'X-Forwarded-For': '203.0.113.9' })).toBe(REFUSED);
  });

  test('of a tenant, and of its quota; the others go on', async () => {
    const running = await started({ sendRates: 'tenant=3/1h', tenantQuotas: '2/1d,7=off' });
    expect([await send(running, { user: 'a' }), await send(running, { user: 'b' })]).toEqual(['200', '200']);
    const refused = await send(running, { user: 'c' });
    // The quota's window is a day: longer than what `send` calls soon.
    expect(refused).toBe('429 RATE_LIMITED');
    for (const user of ['a', 'b', 'c']) expect(await send(running, { user, tenant: 7 })).toBe('200');
    expect(await send(running, { user: 'd', tenant: 7 })).toBe(REFUSED);
  });
});

test('a refused call counts for nobody: a user past the limit does not use up the tenant', async () => {
  const running = await started({ sendRates: 'user=1/1h,tenant=2/1h' });
  for (const expected of ['200', REFUSED, REFUSED, REFUSED]) expect(await send(running, { user: 'alice' })).toBe(expected);
  expect(await send(running, { user: 'bob' })).toBe('200');
  expect(await send(running, { user: 'carol' })).toBe(REFUSED);
});

test('an admin token counts for its tenant, and for the user for whom it acts', async () => {
  const running = await started({ sendRates: 'user=1/1h,device=1/1h,address=1/1h,tenant=4/1h' });
  const backend = { user: 'backend', device: 'd', admin: true };
  for (let i = 0; i < 2; i += 1) expect(await send(running, backend)).toBe('200');
  expect(await send(running, backend, { 'Qim-On-Behalf-Of': 'alice' })).toBe('200');
  expect(await send(running, backend, { 'Qim-On-Behalf-Of': 'alice' })).toBe(REFUSED);
  expect(await send(running, backend)).toBe('200');
  expect(await send(running, backend)).toBe(REFUSED);
});

test('reading, marking and what is the caller alone go on past the limit', async () => {
  const running = await started({ sendRates: 'user=1/1h' });
  expect(await send(running, { user: 'alice' })).toBe('200');
  expect(await send(running, { user: 'alice' })).toBe(REFUSED);
  const token = await running.token({ user: 'alice' });
  for (const method of ['qim.v1.SessionService/ListConversations', 'qim.v1.SessionService/GetTotals']) {
    expect((await running.call(method, token, {})).status).toBe(200);
  }
});

describe('without --send-rates', () => {
  test('the defaults hold, but not under --dev', () => {
    expect(sendLimitsOf(undefined, undefined, false)).toMatchObject(SEND_RATES_DEFAULT);
    expect(sendLimitsOf(undefined, undefined, true)).toBeUndefined();
    expect(sendLimitsOf({ user: { count: 1, windowMs: 1_000 } }, undefined, true)).toMatchObject({ user: { count: 1 }, tenant: undefined });
    expect(sendLimitsOf({}, undefined, false)).toBeUndefined();
  });

  test('they are told as they would be typed', () => {
    expect(sendRatesText(SEND_RATES_DEFAULT)).toBe('user=1000/10s,device=1000/10s,address=20000/10s,tenant=100000/10s');
    expect(sendRatesText({})).toBe('off');
  });
});

test('quotas are at most TENANT_QUOTAS_MAX', () => {
  const quotas = (count: number) => Array.from({ length: count }, (_, tenant) => `${tenant}=5/1d`).join(',');
  expect(parseTenantQuotas(quotas(TENANT_QUOTAS_MAX))?.size).toBe(TENANT_QUOTAS_MAX);
  expect(parseTenantQuotas(quotas(TENANT_QUOTAS_MAX + 1))).toBeUndefined();
});
