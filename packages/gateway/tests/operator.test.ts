/** What admins are told of the server itself. */
import { TEXT_BYTES_MAX, type TenantId } from '@qim/proto';
import { afterEach, expect, it } from 'vitest';
import type { GatewayOptions } from '../src/index.js';
import { call } from './support/http.js';
import { startServer, type TestServer } from './support/server.js';
import { JsonSocket } from './support/socket.js';

let server: TestServer | undefined;
afterEach(() => server?.close());

async function started(options: Partial<GatewayOptions>): Promise<TestServer> {
  server = await startServer({ options: () => options });
  return server;
}

const rate = (count: number) => ({ count, windowMs: 10_000 });

it('tells the limits as they are set, and nothing of those that are off', async () => {
  const quota = (tenantId: TenantId) => (tenantId === 7 ? rate(9) : undefined);
  const set = { user: rate(5), device: undefined, address: undefined, tenant: rate(50), quota };
  const { url, token } = await started({
    sendRates: { limits: set, counter: { take: async () => 0 } },
    limits: { connectionsPerUserMax: 3, connectionsPerAddressMax: Infinity },
  });
  const limits = async (tenant: number) =>
    (await call(url, 'AdminService/GetLimits', await token('backend', { admin: true, tenant }), {})).body;
  const own = [
    { scope: 'user', count: 5, windowMs: '10000' },
    { scope: 'tenant', count: 50, windowMs: '10000' },
  ];
  expect(await limits(7)).toMatchObject({
    rates: [...own, { scope: 'quota', count: 9, windowMs: '10000' }],
    textBytes: TEXT_BYTES_MAX,
    exactUnread: 200,
    connectionsPerUser: 3,
    connectionsPerAddress: 0,
    recallWindowMs: '60000',
  });
  expect(await limits(8)).toMatchObject({ rates: own });
});

it('tells how many are connected of the own tenant, and what waits for delivery in the whole store', async () => {
  let waiting = { entries: 0, oldestMs: 0, poison: 0 };
  const { url, token, store } = await started({ backlog: async () => waiting });
  const admin = await token('backend', { admin: true, tenant: 7 });
  const stats = async () => (await call(url, 'AdminService/GetStats', admin, {})).body;
  const idle = { outboxEntries: 0, outboxOldestMs: '0', outboxPoison: 0, ackDurability: store.ackDurability };
  expect(await stats()).toEqual({ connections: 0, connectedUsers: 0, ...idle });
  const [alice, bob] = [await token('alice', { tenant: 7 }), await token('bob', { tenant: 7 })];
  for (const each of [alice, alice, bob, await token('alice', { tenant: 70 })]) await JsonSocket.signedIn(url, each);
  expect(await stats()).toEqual({ connections: 3, connectedUsers: 2, ...idle });
  waiting = { entries: 4, oldestMs: 1_500.4, poison: 1 };
  expect(await stats()).toMatchObject({ outboxEntries: 4, outboxOldestMs: '1500', outboxPoison: 1 });
});
