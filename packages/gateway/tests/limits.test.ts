/** Send rates in frames, and how many connections one user and one address may have open. */
import { CloseCode, CONNECTIONS_RETRY_AFTER_MS } from '@qim/proto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { trustOf } from '../src/client-address.js';
import { ConnectionCounts } from '../src/connection-counts.js';
import type { GatewayOptions, SendLimits } from '../src/index.js';
import { bearer, call, post, refusal } from './support/http.js';
import { startServer, type TestServer } from './support/server.js';
import { JsonSocket } from './support/socket.js';

let server: TestServer;
afterEach(() => server.close());

async function started(options: (store: TestServer['store']) => Partial<GatewayOptions>): Promise<void> {
  let open: TestServer['store'];
  server = await startServer({
    store: (store) => {
      open = store;
      return store;
    },
    options: () => options(open),
  });
}

const limited = (limits: Partial<SendLimits>) => (store: TestServer['store']) => ({
  sendRates: {
    limits: { user: undefined, device: undefined, address: undefined, tenant: undefined, quota: () => undefined, ...limits },
    counter: store.rates,
  },
});
const limits = (more: Partial<NonNullable<GatewayOptions['limits']>>) => () => ({ limits: more });
const message = (id: string) => ({ toUserId: 'bob', clientMessageId: id, type: 'MESSAGE_TYPE_TEXT', text: 'x' });

describe('a send past the limit', () => {
  it('is an error frame that says when to come back, and the connection goes on', async () => {
    await started(limited({ user: { count: 1, windowMs: 3_600_000 } }));
    const token = await server.token('alice');
    // Counted together with what comes over HTTP.
    expect((await call(server.url, 'ProfileService/SetProfile', token, { displayName: 'Alice' })).status).toBe(200);
    const alice = await JsonSocket.signedIn(server.url, token);
    const { error } = await alice.call('MessageService/SendMessage', message('2'));
    expect(error).toMatchObject({ code: 'resource_exhausted', reason: 'RATE_LIMITED' });
    expect(error.retryAfterMs).toBeGreaterThan(0);
    expect(error.retryAfterMs).toBeLessThanOrEqual(3_600_000);
    expect(await alice.call('SessionService/GetTotals', {})).toHaveProperty('reply');
  });

  it('is 429 with Retry-After over HTTP, before anything of the body is looked at', async () => {
    await started(limited({ user: { count: 1, windowMs: 3_600_000 } }));
    const token = await server.token('alice');
    const send = () => post(server.url, '/qim.v1.MessageService/SendMessage', 'no JSON', bearer(token));
    expect(refusal(await send())).toMatchObject({ status: 400, reason: 'INVALID_ARGUMENT' });
    const refused = await send();
    expect(refusal(refused)).toMatchObject({ status: 429, code: 'resource_exhausted', reason: 'RATE_LIMITED' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('is counted by the address that a named proxy forwards, on both ways in', async () => {
    await started((store) => ({
      ...limited({ address: { count: 1, windowMs: 3_600_000 } })(store),
      trustedProxies: trustOf(['loopback']) ?? expect.fail('no such proxy'),
    }));
    const from = (address: string) => ({ 'X-Forwarded-For': address });
    const token = await server.token('alice');
    const send = async (id: string, address: string) =>
      refusal(await call(server.url, 'MessageService/SendMessage', token, message(id), from(address))).reason;
    expect([await send('1', '203.0.113.1'), await send('2', '203.0.113.1'), await send('3', '203.0.113.2')]).toEqual([
      '',
      'RATE_LIMITED',
      '',
    ]);
    const socket = await JsonSocket.open(server.url, { headers: { ...from('203.0.113.2'), authorization: `Bearer ${token}` } });
    await socket.next();
    expect((await socket.call('MessageService/SendMessage', message('4'))).error).toMatchObject({ reason: 'RATE_LIMITED' });
  });

  it('whose counter does not answer fails as one whose store does not', async () => {
    await started(() => ({
      sendRates: {
        limits: { user: { count: 1, windowMs: 1_000 }, device: undefined, address: undefined, tenant: undefined, quota: () => undefined },
        counter: { take: () => Promise.reject(new Error('gone')) },
      },
    }));
    const answer = await call(server.url, 'MessageService/SendMessage', await server.token('alice'), message('1'));
    expect(refusal(answer)).toMatchObject({ status: 500, reason: 'INTERNAL' });
  });
});

describe('connections past the limit', () => {
  it('of a user are told when to come back, and closed with 4503; one that ends makes room', async () => {
    await started(limits({ connectionsPerUserMax: 2 }));
    const token = await server.token('alice');
    const [first] = [await JsonSocket.signedIn(server.url, token), await JsonSocket.signedIn(server.url, token)];
    const third = await JsonSocket.open(server.url);
    third.send({ id: 0, hello: { token } });
    expect(await third.next()).toMatchObject({ id: 0, error: { reason: 'RATE_LIMITED', retryAfterMs: CONNECTIONS_RETRY_AFTER_MS } });
    expect((await third.closed).code).toBe(CloseCode.TryLater);
    await JsonSocket.signedIn(server.url, await server.token('bob'));
    await first.close();
    await vi.waitFor(async () => expect((await JsonSocket.signedIn(server.url, token)).unread).toBe(0), { timeout: 60_000 });
  });

  it('of an address are told so as well, before they say who they are', async () => {
    await started(limits({ connectionsPerAddressMax: 1 }));
    const first = await JsonSocket.open(server.url);
    const second = await JsonSocket.open(server.url);
    expect(await second.next()).toMatchObject({ error: { reason: 'RATE_LIMITED', retryAfterMs: CONNECTIONS_RETRY_AFTER_MS } });
    expect((await second.closed).code).toBe(CloseCode.TryLater);
    await first.close();
    await vi.waitFor(async () => void (await JsonSocket.signedIn(server.url, await server.token('alice'))), { timeout: 60_000 });
  });

  it('count event streams over HTTP as well', async () => {
    await started(limits({ connectionsPerUserMax: 1 }));
    const token = await server.token('alice');
    const body = new Uint8Array([0, 0, 0, 0, 2, 123, 125]);
    const stop = new AbortController();
    const subscribe = () =>
      fetch(new URL('/qim.v1.EventService/Subscribe', server.url), {
        method: 'POST',
        headers: { 'content-type': 'application/connect+json', ...bearer(token) },
        body,
        signal: stop.signal,
      });
    const first = (await subscribe()).body?.getReader();
    expect((await first?.read())?.value?.[0]).toBe(0);
    expect(await (await subscribe()).text()).toContain('RATE_LIMITED');
    const socket = await JsonSocket.open(server.url);
    socket.send({ id: 0, hello: { token } });
    expect((await socket.closed).code).toBe(CloseCode.TryLater);
    stop.abort();
    await vi.waitFor(async () => void (await JsonSocket.signedIn(server.url, token)), { timeout: 60_000 });
  });
});

it('a count holds nothing of those who have left, and an end that is told twice ends one', async () => {
  await started(() => ({}));
  const counts = new ConnectionCounts(1);
  const end = counts.open('alice');
  expect(counts.open('alice')).toBeUndefined();
  end?.();
  const again = counts.open('alice');
  end?.();
  expect(counts.open('alice')).toBeUndefined();
  again?.();
  expect(counts.open('alice')).toBeDefined();
});
