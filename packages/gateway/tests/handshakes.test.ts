/** How many may connect at once, and what the others are told. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { HANDSHAKE_RETRY_AFTER_MS, HANDSHAKE_RETRY_SPREAD_MS, HANDSHAKES_MAX } from '@qim/proto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Handshakes } from '../src/handshakes.js';
import { startServer, type TestServer } from './support/server.js';
import { JsonSocket } from './support/socket.js';

describe('handshakes', () => {
  it('are as many as may be, and one that has ended makes room once', () => {
    const handshakes = new Handshakes(HANDSHAKES_MAX);
    const ends = Array.from({ length: HANDSHAKES_MAX }, () => handshakes.begin());
    expect(ends).not.toContain(undefined);
    expect(handshakes.begin()).toBeUndefined();
    ends[0]?.();
    ends[0]?.();
    expect(handshakes.begin()).toBeDefined();
    expect(handshakes.begin()).toBeUndefined();
  });

  it('of a storm are told to come back at times that lie evenly over the spread', () => {
    const handshakes = new Handshakes(0);
    const times = Array.from({ length: 5_000 }, () => handshakes.retryAfterMs());
    const quarters = [0, 0, 0, 0];
    for (const ms of times) {
      const quarter = Math.min(3, Math.floor(((ms - HANDSHAKE_RETRY_AFTER_MS) * 4) / HANDSHAKE_RETRY_SPREAD_MS));
      quarters[quarter] = (quarters[quarter] ?? 0) + 1;
    }
    for (const count of quarters) expect(count).toBeGreaterThan(1_200);
    expect(Math.min(...times)).toBeGreaterThanOrEqual(HANDSHAKE_RETRY_AFTER_MS);
    expect(Math.max(...times)).toBeLessThanOrEqual(HANDSHAKE_RETRY_AFTER_MS + HANDSHAKE_RETRY_SPREAD_MS);
  });
});

describe('a server to which too many connect', () => {
  let server: TestServer;
  const silent: Socket[] = [];
  beforeEach(async () => {
    server = await startServer({ options: () => ({ limits: { handshakesMax: 2 } }) });
  });
  afterEach(async () => {
    for (const socket of silent.splice(0)) socket.destroy();
    await server.close();
  });

  /** Asks for the upgrade, and says nothing more: no hello, and no answer to a close. The first line of the answer. */
  async function upgrade(): Promise<string> {
    const { port } = new URL(server.url);
    const socket = connect(Number(port), '127.0.0.1');
    silent.push(socket);
    const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: qim.v1+json';
    socket.write(`GET /ws HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n\r\n`);
    return String((await once(socket, 'data'))[0]);
  }

  it('tells the next one when to come back and closes with 4503; a welcome makes room', async () => {
    const first = await JsonSocket.open(server.url);
    expect(await upgrade()).toContain('101');
    const turnedAway = await JsonSocket.open(server.url);
    expect(await turnedAway.next()).toMatchObject({
      id: 0,
      error: { code: 'resource_exhausted', reason: 'RATE_LIMITED', retryAfterMs: expect.anything() },
    });
    expect(await turnedAway.closed).toMatchObject({ code: 4503 });
    first.raw(JSON.stringify({ id: 0, hello: { token: await server.token('alice') } }));
    expect(await first.next()).toHaveProperty('welcome');
    const next = await JsonSocket.signedIn(server.url, await server.token('bob'));
    expect(await next.call('SessionService/ListConversations', {})).toHaveProperty('reply');
  });

  it('has room again when one that never said hello is gone', async () => {
    await upgrade();
    await upgrade();
    for (const socket of silent.splice(0)) socket.destroy();
    await vi.waitFor(async () => {
      const socket = await JsonSocket.signedIn(server.url, await server.token('bob'));
      await socket.close();
    });
  });

  it('refuses with 503 and Retry-After once as many are being told', async () => {
    for (let i = 0; i < 4; i += 1) expect(await upgrade()).toContain('101');
    const refused = await upgrade();
    expect(refused).toMatch(/^HTTP\/1\.1 503 /);
    expect(refused).toMatch(/\r\nRetry-After: [1-5]\r\n/);
    // Whoever does not answer the close does not hold up a stop.
    await server.close();
  });
});
