/** A suspended user, or device, is refused with every token, and what is open is closed. */
import { CloseCode, parseDeviceId, parseTenantId, parseUserId } from '@qim/proto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bearer, call, post, refusal } from './support/http.js';
import { startServer, type TestServer } from './support/server.js';
import { JsonSocket } from './support/socket.js';

const ALICE = parseUserId('alice');
const T0 = parseTenantId(0);
let server: TestServer;
let admin: string;
let resync: () => void;
beforeEach(async () => {
  // Of the last device that was subscribed.
  server = await startServer({
    options: ({ push }) => ({
      push: {
        ...push,
        subscribe: (sink) => {
          resync = () => sink.deliver({ kind: 'resyncNeeded' });
          return push.subscribe(sink);
        },
      },
    }),
  });
  admin = await server.token('backend', { admin: true });
});
afterEach(() => server.close());

const suspend = (userId: string, suspended: boolean, deviceId = '') =>
  call(server.url, 'AdminService/SuspendUser', admin, { userId, deviceId, suspended });
const list = async (token: string, headers: Record<string, string> = {}) =>
  refusal(await post(server.url, '/qim.v1.SessionService/ListConversations', '{}', { ...bearer(token), ...headers })).reason;

describe('a suspended user', () => {
  it('is refused with every token until no longer suspended', async () => {
    const token = await server.token('alice');
    await suspend('alice', true);
    expect(await list(token)).toBe('UNAUTHENTICATED');
    expect(await list(await server.token('alice'))).toBe('UNAUTHENTICATED');
    expect(await list(await server.token('bob'))).toBe('');
    await suspend('alice', false);
    expect(await list(token)).toBe('');
  });

  it('loses the sockets that are open, with an error and 4401, and gets no new one', async () => {
    const [alice, bob] = [
      await JsonSocket.signedIn(server.url, await server.token('alice')),
      await JsonSocket.signedIn(server.url, await server.token('bob')),
    ];
    await suspend('alice', true);
    expect(await alice.next()).toMatchObject({ id: 0, error: { reason: 'UNAUTHENTICATED' } });
    expect((await alice.closed).code).toBe(CloseCode.Unauthenticated);
    expect(await bob.call('SessionService/ListConversations', {})).toHaveProperty('reply');
    const again = await JsonSocket.open(server.url);
    again.send({ id: 0, hello: { token: await server.token('alice') } });
    expect(await again.next()).toMatchObject({ error: { reason: 'UNAUTHENTICATED' } });
    expect((await again.closed).code).toBe(CloseCode.Unauthenticated);
  });

  it('whose suspension was lost on the way is found when events may have been lost', async () => {
    const alice = await JsonSocket.signedIn(server.url, await server.token('alice'));
    await server.store.users.suspend(T0, ALICE, undefined, true);
    resync();
    expect((await alice.closed).code).toBe(CloseCode.Unauthenticated);
  });

  it('may still be acted for by an admin', async () => {
    await suspend('alice', true);
    expect(await list(admin, { 'Qim-On-Behalf-Of': 'alice' })).toBe('');
  });
});

it('of a suspended device the others go on', async () => {
  const token = (device: string) => server.token('alice', { device });
  const phone = await JsonSocket.signedIn(server.url, await token('phone'));
  const pad = await JsonSocket.signedIn(server.url, await token('pad'));
  await suspend('alice', true, 'phone');
  expect((await phone.closed).code).toBe(CloseCode.Unauthenticated);
  expect(await pad.call('SessionService/ListConversations', {})).toHaveProperty('reply');
  expect([await list(await token('phone')), await list(await token('pad'))]).toEqual(['UNAUTHENTICATED', '']);
  expect(await server.store.users.isSuspended(T0, ALICE, parseDeviceId('pad'))).toBe(false);
});

it('a deleted user is suspended as well', async () => {
  const alice = await JsonSocket.signedIn(server.url, await server.token('alice'));
  await call(server.url, 'AdminService/DeleteUser', admin, { userId: 'alice' });
  expect((await alice.closed).code).toBe(CloseCode.Unauthenticated);
  expect(await list(await server.token('alice'))).toBe('UNAUTHENTICATED');
  const about = {
    kind: 'audit',
    method: 'qim.v1.AdminService/DeleteUser',
    outcome: 'ok',
    tenant: 0,
    by: 'backend',
    about: { userId: 'alice' },
  };
  expect(server.log.map(({ fields }) => fields)).toContainEqual({ ...about, requestId: expect.any(String) });
});
