import { request as httpRequest } from 'node:http';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { CALLS_IN_FLIGHT_MAX, HELLO_TIMEOUT_MS, PING_INTERVAL_MS } from '@qim/proto';
import { SendMessageRequestSchema, SendMessageResponseSchema } from '@qim/proto/schema';
import type { EventSink, Push } from '@qim/push';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { bearer, call } from './support/http.js';
import { startServer, type TestServer, type TestServerOptions } from './support/server.js';
import { JsonSocket, openSocket, ProtoSocket, refusedUpgrade } from './support/socket.js';

let server: TestServer;

async function start(options?: TestServerOptions): Promise<TestServer> {
  server = await startServer(options);
  return server;
}

afterEach(() => server.close());

const text = (clientMessageId: string, words = 'hi') => ({ toUserId: 'bob', clientMessageId, type: 'MESSAGE_TYPE_TEXT', text: words });
const SEND = 'MessageService/SendMessage';

describe('hello', () => {
  it('is answered by welcome, and calls by replies of the same shape as over HTTP', async () => {
    const { url } = await start();
    const socket = await JsonSocket.open(url);
    socket.send({ id: 0, hello: { token: await server.token('alice', { tenant: 7 }), device: 'phone' } });
    expect(await socket.next()).toEqual({ id: 0, welcome: { userId: 'alice', tenant: 7, device: 'phone', ackDurability: 'memory' } });
    const frame = await socket.call(SEND, text('c1'));
    expect(Object.keys(frame)).toEqual(['id', 'reply']);
    const again = await call(url, SEND, await server.token('alice', { tenant: 7, device: 'phone' }), text('c1'));
    expect(again.body).toEqual({ ...frame.reply, duplicate: true });
  });

  it('is the same in protobuf, the body as the method’s own bytes', async () => {
    const { url } = await start();
    const socket = await ProtoSocket.open(url);
    socket.send({ id: 5n, kind: { case: 'hello', value: { token: await server.token('alice'), device: 'phone' } } });
    expect(await socket.next()).toMatchObject({
      id: 5n,
      kind: { case: 'welcome', value: { userId: 'alice', tenant: 0n, device: 'phone', ackDurability: 'memory' } },
    });
    const request = create(SendMessageRequestSchema, {
      target: { case: 'toUserId', value: 'bob' },
      clientMessageId: 'c1',
      type: 1,
      body: { case: 'text', value: 'hi' },
    });
    socket.send({ id: 9n, kind: { case: 'call', value: { method: `qim.v1.${SEND}`, body: toBinary(SendMessageRequestSchema, request) } } });
    const { id, kind } = await socket.next();
    expect([id, kind.case]).toEqual([9n, 'reply']);
    expect(fromBinary(SendMessageResponseSchema, kind.value as Uint8Array)).toMatchObject({
      duplicate: false,
      message: { conversationSeq: 1n, body: { case: 'text', value: 'hi' } },
    });
  });

  it('lets the token’s device stand before its own', async () => {
    const { url } = await start();
    const socket = await JsonSocket.open(url);
    socket.send({ id: 0, hello: { token: await server.token('alice', { device: 'tablet' }), device: 'phone' } });
    expect((await socket.next()).welcome.device).toBe('tablet');
  });

  it.each([
    ['no token', {}, 'UNAUTHENTICATED'],
    ['no JWT', { token: 'abc' }, 'UNAUTHENTICATED'],
    ['a device of 65 bytes', { token: 'good', device: 'x'.repeat(65) }, 'INVALID_ARGUMENT'],
  ])('with %s ends in an error and close 4401', async (_, hello, reason) => {
    const { url } = await start();
    const socket = await JsonSocket.open(url);
    const token = 'token' in hello && hello.token === 'good' ? { token: await server.token('alice') } : {};
    socket.send({ id: 3, hello: { ...hello, ...token } });
    expect(await socket.next()).toMatchObject({ id: 3, error: { reason } });
    expect((await socket.closed).code).toBe(4401);
  });

  it('with an expired token says so and closes with 4401', async () => {
    const { url, clock } = await start();
    const token = await server.token('alice', { ttlSeconds: 1 });
    clock.advance(1_000);
    const socket = await JsonSocket.open(url);
    socket.send({ hello: { token } });
    expect(await socket.next()).toMatchObject({ id: 0, error: { code: 'unauthenticated', reason: 'TOKEN_EXPIRED' } });
    expect((await socket.closed).code).toBe(4401);
  });

  it('must come within HELLO_TIMEOUT_MS', async () => {
    const { url, clock, counts } = await start();
    const socket = await JsonSocket.open(url);
    clock.advance(HELLO_TIMEOUT_MS - 1);
    socket.send({ id: 1, call: { method: `qim.v1.${SEND}`, body: {} } });
    expect(await socket.next()).toMatchObject({ id: 1, error: { reason: 'UNAUTHENTICATED' } });
    clock.advance(1);
    expect(await socket.next()).toMatchObject({ id: 0, error: { reason: 'UNAUTHENTICATED' } });
    expect(await socket.closed).toEqual({ code: 4401, reason: 'no hello in time' });
    await vi.waitFor(() => expect(counts.closed).toEqual([4401]));
  });

  it('is not late once welcomed', async () => {
    const { url, clock } = await start();
    const socket = await JsonSocket.signedIn(url, await server.token('alice'));
    clock.advance(HELLO_TIMEOUT_MS);
    expect(await socket.call('SessionService/ListConversations', {})).toHaveProperty('reply');
  });

  it('need not be waited for: a call that follows at once is answered after it', async () => {
    const { url } = await start();
    const socket = await JsonSocket.open(url);
    socket.send({ id: 0, hello: { token: await server.token('alice') } });
    socket.send({ id: 1, call: { method: 'qim.v1.SessionService/ListConversations' } });
    expect(await socket.next()).toHaveProperty('welcome');
    expect(await socket.next()).toMatchObject({ id: 1, reply: { conversations: [] } });
  });

  it('is answered only once events flow', async () => {
    let subscribe: (sink: EventSink) => Promise<() => void> = () => Promise.reject(new Error('not asked'));
    let confirm = () => {};
    const confirmed = new Promise<void>((resolve) => {
      confirm = resolve;
    });
    const asked = vi.fn();
    const { url } = await start({
      options: ({ push }) => {
        subscribe = async (sink) => {
          asked();
          await confirmed;
          return push.subscribe(sink);
        };
        return { push: { ...push, subscribe: (sink) => subscribe(sink) } satisfies Push };
      },
    });
    const socket = await JsonSocket.open(url);
    socket.send({ hello: { token: await server.token('alice') } });
    await vi.waitFor(() => expect(asked).toHaveBeenCalledOnce());
    expect(socket.unread).toBe(0);
    confirm();
    expect(await socket.next()).toHaveProperty('welcome');
  });

  it('leaves out what happens before welcome: a list after it has it', async () => {
    const { url } = await start({
      options: ({ push }) => ({
        push: {
          ...push,
          subscribe: async (sink) => {
            const end = await push.subscribe(sink);
            sink.deliver({ kind: 'resyncNeeded' });
            return end;
          },
        },
      }),
    });
    const socket = await JsonSocket.signedIn(url, await server.token('alice'));
    expect(await socket.call('SessionService/ListConversations', {})).toHaveProperty('reply');
  });

  it('that cannot be answered now is to be tried again, which 4401 would forbid', async () => {
    const { unavailable } = await import('@qim/store');
    const { url } = await start({
      options: ({ push }) => ({ push: { ...push, subscribe: () => Promise.reject(unavailable('pub/sub')) } }),
    });
    const socket = await JsonSocket.open(url);
    socket.send({ hello: { token: await server.token('alice') } });
    expect(await socket.next()).toMatchObject({ error: { reason: 'STORE_UNAVAILABLE' } });
    expect((await socket.closed).code).toBe(1013);
  });
});

describe('a token in the Authorization header', () => {
  it('is welcomed at once under id 0, and again at a hello without a token', async () => {
    const { url } = await start();
    const socket = await JsonSocket.open(url, { headers: bearer(await server.token('alice', { device: 'bot' })) });
    const welcome = { userId: 'alice', tenant: 0, device: 'bot', ackDurability: 'memory' };
    expect(await socket.next()).toEqual({ id: 0, welcome });
    socket.send({ id: 4, hello: {} });
    expect(await socket.next()).toEqual({ id: 4, welcome });
  });

  it('is refused before there is a connection', async () => {
    const { url } = await start();
    expect(await refusedUpgrade(url, ['qim.v1+json'], bearer('abc'))).toMatchObject({ status: 401, body: { reason: 'UNAUTHENTICATED' } });
  });

  it('of an admin may act for a user, whose events it gets', async () => {
    const { url } = await start();
    const admin = await server.token('backend', { admin: true });
    const socket = await JsonSocket.open(url, { headers: { ...bearer(admin), 'qim-on-behalf-of': 'bob' } });
    expect(await socket.next()).toMatchObject({ welcome: { userId: 'bob' } });
    await call(url, SEND, await server.token('alice'), text('c1'));
    expect(await socket.next()).toMatchObject({ event: { messageCommitted: { message: { text: 'hi' } } } });
    const other = await refusedUpgrade(url, ['qim.v1+json'], { ...bearer(await server.token('alice')), 'qim-on-behalf-of': 'bob' });
    expect(other).toMatchObject({ status: 403, body: { reason: 'FORBIDDEN' } });
  });

  it('is not looked for in the URL', async () => {
    const { url } = await start();
    const socket = await JsonSocket.open(`${url}/ws?token=${await server.token('alice')}`);
    socket.send({ id: 1, call: { method: 'qim.v1.SessionService/ListConversations' } });
    expect(await socket.next()).toMatchObject({ id: 1, error: { reason: 'UNAUTHENTICATED' } });
  });
});

describe('renewal', () => {
  /** Time is moved in leaps that no answer to a ping could keep up with. */
  const withoutPings: TestServerOptions = { options: () => ({ limits: { pingIntervalMs: 2 ** 31 - 1 } }) };

  it('moves the end of the connection to that of the new token', async () => {
    const { url, clock } = await start(withoutPings);
    const socket = await JsonSocket.signedIn(url, await server.token('alice', { ttlSeconds: 60 }));
    clock.advance(50_000);
    socket.send({ id: 2, hello: { token: await server.token('alice', { ttlSeconds: 60 }) } });
    expect(await socket.next()).toMatchObject({ id: 2, welcome: { userId: 'alice' } });
    clock.advance(59_999);
    expect(await socket.call('SessionService/ListConversations', {})).toHaveProperty('reply');
    clock.advance(1);
    expect(await socket.next()).toMatchObject({ id: 0, error: { reason: 'TOKEN_EXPIRED' } });
    expect(await socket.closed).toEqual({ code: 4401, reason: 'the token has expired' });
  });

  it('is needed at the end of the token even where the timer is late', async () => {
    const { url, clock } = await start();
    const socket = await JsonSocket.signedIn(url, await server.token('alice', { ttlSeconds: 60 }));
    clock.jump(60_000);
    expect(await socket.call('SessionService/ListConversations', {})).toMatchObject({ error: { reason: 'TOKEN_EXPIRED' } });
  });

  it.each([
    ['another user', 'bob', {}],
    ['another tenant', 'alice', { tenant: 7 }],
  ])('for %s ends in an error and close 4401', async (_, user, claims) => {
    const { url } = await start();
    const socket = await JsonSocket.signedIn(url, await server.token('alice'));
    socket.send({ id: 2, hello: { token: await server.token(user, claims) } });
    expect(await socket.next()).toMatchObject({ id: 2, error: { reason: 'UNAUTHENTICATED' } });
    expect((await socket.closed).code).toBe(4401);
  });

  it('keeps the device of the first hello', async () => {
    const { url } = await start();
    const socket = await JsonSocket.signedIn(url, await server.token('alice', { device: 'phone' }));
    socket.send({ id: 2, hello: { token: await server.token('alice', { device: 'tablet' }) } });
    expect((await socket.next()).welcome.device).toBe('phone');
  });

  it('takes up no second subscription', async () => {
    const { url } = await start();
    const socket = await JsonSocket.signedIn(url, await server.token('bob'));
    socket.send({ id: 2, hello: { token: await server.token('bob') } });
    await socket.next();
    await call(url, SEND, await server.token('alice'), text('c1'));
    expect(await socket.next()).toHaveProperty('event');
    expect(await socket.call('SessionService/ListConversations', {})).toHaveProperty('reply');
    expect(server.counts.events).toBe(1);
  });

  it('is not needed before the end of a token of 30 days, which no single timer can wait for', async () => {
    const { url, clock } = await start(withoutPings);
    const days = (n: number) => n * 24 * 60 * 60 * 1000;
    const socket = await JsonSocket.signedIn(url, await server.token('alice', { ttlSeconds: days(30) / 1000 }));
    clock.advance(days(24));
    // One ping is due in between.
    expect(await socket.call('SessionService/ListConversations', {})).toHaveProperty('reply');
    clock.advance(days(6) - 1);
    expect(await socket.call('SessionService/ListConversations', {})).toHaveProperty('reply');
    clock.advance(1);
    expect(await socket.next()).toMatchObject({ error: { reason: 'TOKEN_EXPIRED' } });
  });
});

describe('events', () => {
  it('reach every connection of every member in both subprotocols, encoded once each', async () => {
    const { url } = await start();
    const [first, second] = [
      await JsonSocket.signedIn(url, await server.token('bob')),
      await JsonSocket.signedIn(url, await server.token('bob')),
    ];
    const binary = await ProtoSocket.open(url);
    binary.send({ kind: { case: 'hello', value: { token: await server.token('bob') } } });
    await binary.next();
    const { body } = await call(url, SEND, await server.token('alice'), text('c1'));
    for (const socket of [first, second]) expect(await socket.next()).toEqual({ event: { messageCommitted: { message: body.message } } });
    const { id, kind } = await binary.next();
    expect([id, kind.case]).toEqual([0n, 'event']);
    expect(kind).toMatchObject({
      value: { kind: { case: 'messageCommitted', value: { message: { conversationSeq: 1n, body: { value: 'hi' } } } } },
    });
  });

  it('tell of amendments, read marks, groups and removals', async () => {
    const { url } = await start();
    const [alice, bob] = [await server.token('alice'), await server.token('bob')];
    const socket = await JsonSocket.signedIn(url, bob);
    const group = (await call(url, 'ConversationService/CreateGroup', alice, { title: 'room', memberIds: ['bob'] })).body.conversation;
    const { conversationId } = group;
    const kinds: string[] = [];
    const until = async (kind: string) => {
      for (;;) {
        const { event } = await socket.next();
        kinds.push(...Object.keys(event));
        if (kind in event) return event[kind];
      }
    };
    const sent = { conversationId, clientMessageId: 'a1', type: 'MESSAGE_TYPE_TEXT', text: 'one' };
    const { message } = (await call(url, SEND, alice, sent)).body;
    const { messageId, conversationSeq } = message;
    await call(url, 'MessageService/RecallMessage', alice, { conversationId, conversationSeq, messageId });
    const amended = await until('messageAmended');
    expect(amended.message).toMatchObject({ messageId, status: 'MESSAGE_STATUS_RECALLED' });
    expect(amended.message).not.toHaveProperty('text');
    await call(url, 'SessionService/MarkRead', bob, { conversationId, readConversationSeq: conversationSeq });
    expect(await until('readAdvanced')).toEqual({ conversationId, userId: 'bob', readConversationSeq: conversationSeq });
    await call(url, 'ConversationService/RemoveMember', alice, { conversationId, userId: 'bob' });
    expect(await until('removed')).toEqual({ conversationId });
    expect(kinds).toContain('messageCommitted');
  });

  it('end with the connection', async () => {
    const unsubscribed = vi.fn();
    const { url } = await start({
      options: ({ push }) => ({
        push: {
          ...push,
          async subscribe(sink) {
            const end = await push.subscribe(sink);
            return () => {
              unsubscribed();
              end();
            };
          },
        },
      }),
    });
    const socket = await JsonSocket.signedIn(url, await server.token('bob'));
    await socket.close();
    await vi.waitFor(() => expect(unsubscribed).toHaveBeenCalledOnce());
    await vi.waitFor(() => expect(server.counts).toMatchObject({ opened: 1, closed: [1005] }));
  });

  it('that cannot be encoded end in resyncNeeded, and the log has why', async () => {
    let sink: EventSink | undefined;
    const { url, log } = await start({
      options: ({ push }) => ({
        push: {
          ...push,
          subscribe: (given) => {
            sink = given;
            return push.subscribe(given);
          },
        },
      }),
    });
    const socket = await JsonSocket.signedIn(url, await server.token('bob'));
    sink?.deliver({ kind: 'messageCommitted', message: {} as never });
    expect(await socket.next()).toEqual({ event: { resyncNeeded: {} } });
    expect((await socket.closed).code).toBe(4508);
    expect(log.some(({ level }) => level === 'error')).toBe(true);
  });
});

describe('calls', () => {
  it('are answered in any order, each under its id, the same id twice included', async () => {
    const { url } = await start();
    const socket = await JsonSocket.signedIn(url, await server.token('alice'));
    for (const id of [9, 9, 2]) socket.send({ id, call: { method: 'qim.v1.SessionService/ListConversations' } });
    const ids = [(await socket.next()).id, (await socket.next()).id, (await socket.next()).id];
    expect(ids.sort()).toEqual([2, 9, 9]);
  });

  it('beyond CALLS_IN_FLIGHT_MAX are refused, not queued', async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { url } = await start({
      options: ({ session }) => ({
        session: {
          ...session,
          listConversations: async (...args) => {
            await gate;
            return session.listConversations(...args);
          },
        },
      }),
    });
    const socket = await JsonSocket.signedIn(url, await server.token('alice'));
    for (let id = 1; id <= CALLS_IN_FLIGHT_MAX + 1; id++) socket.send({ id, call: { method: 'qim.v1.SessionService/ListConversations' } });
    expect(await socket.next()).toMatchObject({
      id: CALLS_IN_FLIGHT_MAX + 1,
      error: { code: 'resource_exhausted', reason: 'RESOURCE_LIMIT' },
    });
    open();
    for (let id = 1; id <= CALLS_IN_FLIGHT_MAX; id++) expect(await socket.next()).toMatchObject({ id, reply: {} });
    expect(await socket.call('SessionService/ListConversations', {})).toHaveProperty('reply');
  });

  it('fail with the code, reason, field and message of HTTP', async () => {
    const { url } = await start();
    const socket = await JsonSocket.signedIn(url, await server.token('alice'));
    expect(await socket.call('SessionService/ListConversations', { pageSize: 101 })).toEqual({
      id: 1,
      error: {
        code: 'invalid_argument',
        reason: 'INVALID_ARGUMENT',
        field: 'pageSize',
        message: expect.stringContaining('pageSize must be'),
      },
    });
    expect(await socket.call('ConversationService/LeaveGroup', { conversationId: 'g_none' })).toMatchObject({
      error: { code: 'not_found', reason: 'NOT_MEMBER', field: '', message: 'no such conversation' },
    });
    expect(await socket.call('AdminService/MintToken', { userId: 'x' })).toMatchObject({ error: { reason: 'FORBIDDEN' } });
    for (const method of ['SessionService/Nothing', 'EventService/Subscribe', 'toString']) {
      expect(await socket.call(method, {})).toMatchObject({ error: { code: 'unimplemented', reason: 'UNIMPLEMENTED' } });
    }
  });
});

describe('liveness', () => {
  it('pings, keeps who answers, and closes with 4509 who does not', async () => {
    const { url, clock, counts } = await start();
    const lively = await JsonSocket.signedIn(url, await server.token('alice', { ttlSeconds: 3_600 }));
    const silent = await JsonSocket.signedIn(url, await server.token('bob', { ttlSeconds: 3_600 }));
    // A peer that is gone reads nothing, and so answers nothing.
    silent.socket.pause();
    for (let round = 0; round < 2; round++) {
      const pinged = new Promise((resolve) => lively.socket.once('ping', resolve));
      clock.advance(PING_INTERVAL_MS);
      await pinged;
      // The answer to a call comes after that to the ping.
      expect(await lively.call('SessionService/ListConversations', {})).toHaveProperty('reply');
    }
    clock.advance(PING_INTERVAL_MS);
    await vi.waitFor(() => expect(counts.closed).toEqual([4509]));
    expect(await lively.call('SessionService/ListConversations', {})).toHaveProperty('reply');
  });
});

describe('the upgrade', () => {
  it.each([
    ['no subprotocol', [], {}, '/ws', 400],
    ['an unknown subprotocol', ['qim.v2+json'], {}, '/ws', 400],
    ['another path', ['qim.v1+json'], {}, '/other', 404],
    ['another page', ['qim.v1+json'], { origin: 'http://evil.example' }, '/ws', 403],
    ['a page without an origin', ['qim.v1+json'], { origin: 'null' }, '/ws', 403],
    ['a page of another port', ['qim.v1+json'], { origin: 'http://127.0.0.1:1' }, '/ws', 403],
  ])('with %s is refused', async (_, subprotocols, headers, path, status) => {
    const { url } = await start();
    const answer = await refusedUpgrade(url, subprotocols, headers, path);
    expect(answer.status).toBe(status);
    expect(answer.body.code).toEqual(expect.any(String));
  });

  it('to anything but WebSocket is refused with a hint', async () => {
    const { url } = await start();
    const answer = await new Promise<string>((resolve, reject) => {
      const request = httpRequest(new URL('/qim.v1.SessionService/ListConversations', url), {
        method: 'POST',
        headers: { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'content-length': '0' },
      });
      request.on('response', (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += String(chunk);
        });
        response.on('end', () => resolve(`${response.statusCode} ${text}`));
      });
      request.on('error', reject);
      request.end();
    });
    expect(answer).toMatch(/^400 .*without Upgrade/);
  });

  it('takes the first subprotocol offered that it knows', async () => {
    const { url } = await start();
    expect((await openSocket(url, ['other', 'qim.v1+json', 'qim.v1+proto'])).protocol).toBe('qim.v1+json');
  });

  it('takes its own pages, and those of allowed origins', async () => {
    const { url } = await start({ options: () => ({ allowedOrigins: ['https://chat.example'] }) });
    for (const origin of [new URL(url).origin, 'https://chat.example']) {
      expect((await openSocket(url, ['qim.v1+json'], { headers: { origin } })).protocol).toBe('qim.v1+json');
    }
    expect((await refusedUpgrade(url, ['qim.v1+json'], { origin: 'http://chat.example' })).status).toBe(403);
  });

  it('under --dev takes the names of this machine only', async () => {
    const { url } = await start({ options: () => ({ devLogin: true }) });
    expect((await refusedUpgrade(url, ['qim.v1+json'], { host: 'evil.example', origin: 'http://evil.example' })).status).toBe(403);
  });
});
