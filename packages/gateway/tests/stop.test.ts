import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { call, refusal } from './support/http.js';
import { startServer, type TestServer } from './support/server.js';
import { JsonSocket, refusedUpgrade } from './support/socket.js';

const LIST = 'SessionService/ListConversations';

let server: TestServer;
let open: () => void;
let entered: Promise<void>;

beforeEach(async () => {
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  let enter = () => {};
  entered = new Promise<void>((resolve) => {
    enter = resolve;
  });
  server = await startServer({
    options: ({ session }) => ({
      session: {
        ...session,
        async listConversations(caller, input) {
          if (caller.userId === 'slow') {
            enter();
            await gate;
          }
          return session.listConversations(caller, input);
        },
      },
    }),
  });
});

afterEach(async () => {
  open();
  await server.close();
});

describe('a stop', () => {
  it('says so on /readyz, refuses what is new, and finishes what is in flight over HTTP', async () => {
    const { url, gateway } = server;
    const inFlight = call(url, LIST, await server.token('slow'), {});
    await entered;
    const stopped = gateway.stop(10_000);
    const ready = await fetch(new URL('/readyz', url));
    expect([ready.status, await ready.json()]).toEqual([503, { ready: false, reason: 'stopping', ackDurability: 'memory' }]);
    expect(refusal(await call(url, LIST, await server.token('alice'), {}))).toMatchObject({ status: 503, reason: 'STORE_UNAVAILABLE' });
    expect(await refusedUpgrade(url, ['qim.v1+json'])).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    open();
    expect((await inFlight).status).toBe(200);
    await stopped;
    await expect(fetch(new URL('/healthz', url))).rejects.toThrow();
  });

  it('closes idle sockets with 4500 at once, and busy ones after their reply', async () => {
    const { url, gateway } = server;
    const idle = await JsonSocket.signedIn(url, await server.token('alice'));
    const busy = await JsonSocket.signedIn(url, await server.token('slow'));
    busy.send({ id: 1, call: { method: `qim.v1.${LIST}` } });
    await entered;
    const stopped = gateway.stop(10_000);
    expect(await idle.closed).toEqual({ code: 4500, reason: 'the server is stopping' });
    busy.send({ id: 2, call: { method: `qim.v1.${LIST}` } });
    expect(await busy.next()).toMatchObject({ id: 2, error: { reason: 'STORE_UNAVAILABLE' } });
    open();
    expect(await busy.next()).toMatchObject({ id: 1, reply: {} });
    expect((await busy.closed).code).toBe(4500);
    await stopped;
    expect(server.counts.closed).toEqual([4500, 4500]);
  });

  it('does not wait past its deadline', async () => {
    const { url, gateway, clock } = server;
    const busy = await JsonSocket.signedIn(url, await server.token('slow'));
    busy.send({ id: 1, call: { method: `qim.v1.${LIST}` } });
    await entered;
    const inFlight = call(url, LIST, await server.token('slow'), {}).catch(() => 'cut');
    const stopped = gateway.stop(10_000);
    clock.advance(10_000);
    await stopped;
    expect((await busy.closed).code).toBe(4500);
    expect(await inFlight).not.toMatchObject({ status: 200 });
    expect(server.log.map(({ message }) => message)).toContain('the deadline passed with work in flight');
  });

  it('is over at once where nothing is going on', async () => {
    await server.gateway.stop(10_000);
    await expect(fetch(new URL('/healthz', server.url))).rejects.toThrow();
  });
});
