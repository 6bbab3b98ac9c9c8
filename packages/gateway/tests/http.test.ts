import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { CLIENT_FRAME_READ_BYTES_MAX, HTTP_BODY_BYTES_MAX, REQUEST_ID_CHARS_MAX, TOKEN_TTL_SECONDS_MAX } from '@qim/proto';
import { ErrorDetailSchema, ErrorReason, MessageService, SessionService } from '@qim/proto/schema';
import { afterEach, describe, expect, it } from 'vitest';
import { damaging } from './support/faults.js';
import { bearer, call, post, refusal } from './support/http.js';
import { startServer, type TestServer, type TestServerOptions } from './support/server.js';

let server: TestServer;

async function start(options?: TestServerOptions): Promise<TestServer> {
  server = await startServer(options);
  return server;
}

afterEach(() => server.close());

const TEXT = { toUserId: 'bob', clientMessageId: 'c1', type: 'MESSAGE_TYPE_TEXT', text: 'hi' };
const UUID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);

describe('the API over HTTP', () => {
  it('prints every field of a message, empty ones too, and leaves out what is not set', async () => {
    const { url, clock } = await start();
    const alice = await server.token('alice', { device: 'phone' });
    const { status, body } = await call(url, 'MessageService/SendMessage', alice, TEXT);
    expect(status).toBe(200);
    expect(body).toEqual({
      message: {
        messageId: UUID,
        conversationId: expect.stringMatching(/^d_/),
        epoch: '1',
        conversationSeq: '1',
        activityId: UUID,
        senderUserId: 'alice',
        senderDeviceId: 'phone',
        clientMessageId: 'c1',
        type: 'MESSAGE_TYPE_TEXT',
        status: 'MESSAGE_STATUS_NORMAL',
        revision: 0,
        committedAtMs: String(clock.now()),
        amendedAtMs: '0',
        mentionUserIds: [],
        mentionAll: false,
        text: 'hi',
        reactions: [],
        reactionsRevision: 0,
      },
      duplicate: false,
    });
  });

  it('answers a retry with the same message and says that it is one', async () => {
    const { url } = await start();
    const alice = await server.token('alice');
    const first = await call(url, 'MessageService/SendMessage', alice, TEXT);
    const again = await call(url, 'MessageService/SendMessage', alice, TEXT);
    expect(again.body).toEqual({ ...first.body, duplicate: true });
  });

  it('answers a retry by one who was removed since with the ids alone', async () => {
    const { url } = await start();
    const [alice, bob] = [await server.token('alice'), await server.token('bob')];
    const group = await call(url, 'ConversationService/CreateGroup', alice, { title: 'room', memberIds: ['bob'] });
    const { conversationId } = group.body.conversation;
    const sent = { conversationId, clientMessageId: 'b1', type: 'MESSAGE_TYPE_TEXT', text: 'secret' };
    const first = await call(url, 'MessageService/SendMessage', bob, sent);
    await call(url, 'ConversationService/RemoveMember', alice, { conversationId, userId: 'bob' });
    const { status, body } = await call(url, 'MessageService/SendMessage', bob, sent);
    expect(status).toBe(200);
    const { messageId, conversationSeq, committedAtMs } = first.body.message;
    expect(body.message).toMatchObject({ conversationId, messageId, conversationSeq, clientMessageId: 'b1', committedAtMs });
    expect(body.message).not.toHaveProperty('text');
    expect(body).toMatchObject({ duplicate: true, message: { senderUserId: '', type: 'MESSAGE_TYPE_UNSPECIFIED' } });
  });

  it('lists a sound conversation with its numbers, zero and false among them', async () => {
    const { url, clock } = await start();
    const [alice, bob] = [await server.token('alice'), await server.token('bob')];
    const { message } = (await call(url, 'MessageService/SendMessage', alice, TEXT)).body;
    const entry = {
      conversationId: message.conversationId,
      kind: 'CONVERSATION_KIND_DIRECT',
      title: '',
      latestConversationSeq: '1',
      lastActivityId: message.activityId,
      lastMessageId: message.messageId,
      readConversationSeq: '0',
      unreadExact: true,
      mentionCount: 0,
      preview: {
        messageId: message.messageId,
        conversationSeq: '1',
        type: 'MESSAGE_TYPE_TEXT',
        status: 'MESSAGE_STATUS_NORMAL',
        senderUserId: 'alice',
        snippet: 'hi',
        truncated: false,
        committedAtMs: String(clock.now()),
      },
      flags: { pinned: false, muted: false, hidden: false, markedUnread: false },
      epoch: '1',
      amendmentCursor: '0',
      watermarkAhead: false,
      settings: { historyVisibility: expect.any(String), onlyAdminsPost: false, readReceipts: true },
      role: 'ROLE_MEMBER',
    };
    expect((await call(url, 'SessionService/ListConversations', alice, {})).body).toEqual({
      conversations: [{ ...entry, peerUserId: 'bob', unreadCount: 0 }],
      nextPageToken: '',
      damagedCount: 0,
    });
    const ofBob = await call(url, 'SessionService/ListConversations', bob, { explain: true });
    expect(ofBob.body.conversations).toEqual([
      {
        ...entry,
        peerUserId: 'alice',
        unreadCount: 1,
        explanation: {
          readConversationSeq: '0',
          unreadFloor: '0',
          headConversationSeq: '1',
          scanned: 1,
          own: 0,
          control: 0,
          recalled: 0,
          deleted: 0,
          chainUnbroken: true,
        },
      },
    ]);
  });

  it('leaves out the ids of a conversation without a message, and the mentions of one that is not exact', async () => {
    await start({
      store: (store) => ({
        ...store,
        messages: {
          ...store.messages,
          readConversations: async (...args) =>
            (await store.messages.readConversations(...args)).map((reading) =>
              reading.kind === 'damaged'
                ? reading
                : {
                    ...reading,
                    summary: {
                      ...reading.summary,
                      lastActivityId: undefined,
                      lastMessageId: undefined,
                      unreadExact: false,
                      mentionCount: undefined,
                    },
                  },
            ),
        },
      }),
    });
    const alice = await server.token('alice');
    await call(server.url, 'MessageService/SendMessage', alice, TEXT);
    const [entry] = (await call(server.url, 'SessionService/ListConversations', alice, {})).body.conversations;
    expect(entry).toMatchObject({ latestConversationSeq: '1', unreadCount: 0, unreadExact: false });
    for (const absent of ['lastActivityId', 'lastMessageId', 'mentionCount']) expect(entry).not.toHaveProperty(absent);
  });

  it('serves Connect in binary and gRPC-Web to generated clients, errors with their typed detail', async () => {
    const { url } = await start();
    const token = await server.token('alice');
    const interceptors = [
      (next: Parameters<NonNullable<Parameters<typeof createConnectTransport>[0]['interceptors']>[number]>[0]) =>
        async (request: Parameters<typeof next>[0]) => {
          request.header.set('authorization', `Bearer ${token}`);
          return next(request);
        },
    ];
    const options = { baseUrl: url, httpVersion: '1.1', interceptors } as const;
    const transports = [
      createConnectTransport(options),
      createConnectTransport({ ...options, useBinaryFormat: false }),
      createGrpcWebTransport(options),
      createGrpcWebTransport({ ...options, useBinaryFormat: false }),
    ];
    for (const [index, transport] of transports.entries()) {
      const clientMessageId = `c${index}`;
      const { message } = await createClient(MessageService, transport).sendMessage({
        target: { case: 'toUserId', value: 'bob' },
        clientMessageId,
        type: 1,
        body: { case: 'text', value: 'hi' },
      });
      expect(message).toMatchObject({ clientMessageId, conversationSeq: BigInt(index + 1), body: { case: 'text', value: 'hi' } });
      const failed = createClient(SessionService, transport).listConversations({ pageSize: 101 }, { timeoutMs: 60_000 });
      const error = ConnectError.from(await failed.catch((thrown: unknown) => thrown));
      expect(error.findDetails(ErrorDetailSchema)).toMatchObject([{ reason: ErrorReason.INVALID_ARGUMENT, field: 'pageSize' }]);
    }
  });

  it('answers a method that does not exist', async () => {
    const { url } = await start();
    const alice = await server.token('alice');
    const none = await post(url, '/qim.v1.SessionService/Nothing', '{}', bearer(alice));
    expect(none).toMatchObject({ status: 404, body: { code: 'unimplemented', reason: 'UNIMPLEMENTED' } });
  });

  it('answers a path that does not exist in JSON', async () => {
    const { url } = await start();
    const response = await fetch(new URL('/nothing', url));
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ code: 'not_found', message: 'no such path' });
  });

  it('serves only the services that it is told to, and then no socket', async () => {
    const { url } = await start({ options: () => ({ onlyServices: ['qim.v1.SessionService'] }) });
    const alice = await server.token('alice');
    expect((await call(url, 'SessionService/ListConversations', alice, {})).status).toBe(200);
    expect((await call(url, 'MessageService/SendMessage', alice, TEXT)).body).toMatchObject({ code: 'unimplemented' });
    expect((await fetch(new URL('/ws', url))).status).toBe(404);
  });

  it('takes no GET for a call, and no other content type', async () => {
    const { url } = await start();
    const alice = await server.token('alice');
    const get = await fetch(new URL('/qim.v1.SessionService/ListConversations?encoding=json&message=%7B%7D', url), {
      headers: bearer(alice),
    });
    expect(get.status).toBe(405);
    expect(
      (await fetch(new URL('/qim.v1.SessionService/ListConversations', url), { method: 'POST', body: '{}', headers: bearer(alice) }))
        .status,
    ).toBe(415);
  });

  it('ignores a field that it does not know, in JSON as in binary', async () => {
    const { url } = await start();
    const answer = await call(url, 'SessionService/ListConversations', await server.token('alice'), { tomorrow: { a: [1] }, pageSize: 5 });
    expect(answer.status).toBe(200);
  });
});

describe('who calls', () => {
  it('must be told by a bearer token', async () => {
    const { url } = await start();
    const alice = await server.token('alice');
    for (const authorization of ['', 'Bearer', `Basic ${alice}`, alice, `Bearer ${alice} x`, 'Bearer abc']) {
      const answer = await call(url, 'SessionService/ListConversations', undefined, {}, authorization === '' ? {} : { authorization });
      expect(refusal(answer)).toEqual({ status: 401, code: 'unauthenticated', reason: 'UNAUTHENTICATED', field: '' });
    }
    expect((await call(url, 'SessionService/ListConversations', undefined, {}, { authorization: `bearer ${alice}` })).status).toBe(200);
  });

  it('is never told by the URL', async () => {
    const { url } = await start();
    const alice = await server.token('alice');
    const answer = await post(url, `/qim.v1.SessionService/ListConversations?token=${alice}&access_token=${alice}`, '{}');
    expect(refusal(answer)).toMatchObject({ status: 401, reason: 'UNAUTHENTICATED' });
  });

  it('is out at the second of expiry', async () => {
    const { url, clock } = await start();
    const alice = await server.token('alice', { ttlSeconds: 60 });
    clock.advance(59_999);
    expect((await call(url, 'SessionService/ListConversations', alice, {})).status).toBe(200);
    clock.advance(1);
    expect(refusal(await call(url, 'SessionService/ListConversations', alice, {}))).toMatchObject({ status: 401, reason: 'TOKEN_EXPIRED' });
  });

  it('is known before anything of the body is decoded', async () => {
    const { url } = await start();
    expect(refusal(await post(url, '/qim.v1.SessionService/ListConversations', 'no JSON'))).toMatchObject({ reason: 'UNAUTHENTICATED' });
  });

  it('may be another user of the same tenant for an admin token, and the log says so', async () => {
    const { url, log } = await start();
    const backend = await server.token('backend', { tenant: 7, admin: true });
    const headers = { 'qim-on-behalf-of': Buffer.from('ålice').toString('latin1') };
    const { body } = await call(url, 'MessageService/SendMessage', backend, TEXT, headers);
    expect(body.message.senderUserId).toBe('ålice');
    expect(
      (await call(url, 'SessionService/ListConversations', await server.token('bob', { tenant: 7 }), {})).body.conversations,
    ).toHaveLength(1);
    expect((await call(url, 'SessionService/ListConversations', await server.token('bob'), {})).body.conversations).toHaveLength(0);
    expect(log).toContainEqual({
      level: 'info',
      message: 'a call on behalf of a user',
      fields: expect.objectContaining({ admin: 'backend', onBehalfOf: 'ålice', tenant: 7, method: 'qim.v1.MessageService/SendMessage' }),
    });
  });

  it('may not be another user for any other token', async () => {
    const { url } = await start();
    const answer = await call(url, 'SessionService/ListConversations', await server.token('alice'), {}, { 'qim-on-behalf-of': 'bob' });
    expect(refusal(answer)).toEqual({ status: 403, code: 'permission_denied', reason: 'FORBIDDEN', field: '' });
  });

  it.each([
    ['empty', ''],
    ['65 bytes long', 'x'.repeat(65)],
    ['no UTF-8', '\u00ff\u00fe'],
  ])('is refused by field when the header is %s', async (_, header) => {
    const { url } = await start();
    const admin = await server.token('backend', { admin: true });
    const answer = await call(url, 'SessionService/ListConversations', admin, {}, { 'qim-on-behalf-of': header });
    expect(refusal(answer)).toMatchObject({ status: 400, reason: 'INVALID_ARGUMENT', field: 'Qim-On-Behalf-Of' });
  });
});

describe('MintToken', () => {
  it('is for admin tokens, and gives a token of the same tenant without admin', async () => {
    const { url, clock } = await start();
    expect(refusal(await call(url, 'AdminService/MintToken', await server.token('alice'), { userId: 'alice' }))).toMatchObject({
      status: 403,
      reason: 'FORBIDDEN',
    });
    const admin = await server.token('backend', { tenant: 7, admin: true });
    const { body } = await call(url, 'AdminService/MintToken', admin, { userId: 'alice', deviceId: 'phone', ttlSeconds: 60 });
    expect(body.expiresAtMs).toBe(String(clock.now() + 60_000));
    expect(refusal(await call(url, 'AdminService/MintToken', body.token, { userId: 'bob' }))).toMatchObject({ reason: 'FORBIDDEN' });
    const sent = await call(url, 'MessageService/SendMessage', body.token, TEXT);
    expect(sent.body.message).toMatchObject({ senderUserId: 'alice', senderDeviceId: 'phone' });
    expect(
      (await call(url, 'SessionService/ListConversations', await server.token('bob', { tenant: 7 }), {})).body.conversations,
    ).toHaveLength(1);
  });

  it('gives an hour by default and 30 days at most', async () => {
    const { url, clock } = await start();
    const admin = await server.token('backend', { admin: true });
    const mint = (ttlSeconds?: number) =>
      call(url, 'AdminService/MintToken', admin, { userId: 'alice', ...(ttlSeconds === undefined ? {} : { ttlSeconds }) });
    expect((await mint()).body.expiresAtMs).toBe(String(clock.now() + 3_600_000));
    expect((await mint(TOKEN_TTL_SECONDS_MAX)).body.expiresAtMs).toBe(String(clock.now() + TOKEN_TTL_SECONDS_MAX * 1000));
    for (const ttlSeconds of [TOKEN_TTL_SECONDS_MAX + 1, -1]) {
      expect(refusal(await mint(ttlSeconds))).toMatchObject({ reason: 'INVALID_ARGUMENT', field: 'ttlSeconds' });
    }
  });

  it('is not answered where tokens come from elsewhere', async () => {
    const { url } = await start({ options: () => ({ minter: undefined }) });
    const answer = await call(url, 'AdminService/MintToken', await server.token('backend', { admin: true }), { userId: 'alice' });
    expect(refusal(answer)).toMatchObject({ reason: 'UNIMPLEMENTED' });
  });
});

describe('request ids', () => {
  it('are made here, and the caller is told', async () => {
    const { url } = await start();
    const answer = await call(url, 'SessionService/ListConversations', undefined, {});
    expect(answer.headers.get('qim-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each([
    ['a safe one', 'trace-1.A_b', true],
    ['one of 64 characters', 'x'.repeat(REQUEST_ID_CHARS_MAX), true],
    ['one of 65 characters', 'x'.repeat(REQUEST_ID_CHARS_MAX + 1), false],
    ['one with a space', 'a b', false],
    ['one with quotes', '"}', false],
    ['an empty one', '', false],
  ])('of the caller: %s', async (_, id, taken) => {
    const { url } = await start();
    const answer = await call(url, 'SessionService/ListConversations', undefined, {}, { 'qim-request-id': id });
    expect(answer.headers.get('qim-request-id') === id).toBe(taken);
  });
});

describe('bodies', () => {
  const path = '/qim.v1.SessionService/ListConversations';
  const padded = (bytes: number) => `{"pageSize":1${' '.repeat(bytes - 14)}}`;

  it('may have HTTP_BODY_BYTES_MAX bytes, and past it are refused with an answer', async () => {
    const { url } = await start();
    const headers = bearer(await server.token('alice'));
    expect(padded(HTTP_BODY_BYTES_MAX)).toHaveLength(HTTP_BODY_BYTES_MAX);
    expect((await post(url, path, padded(HTTP_BODY_BYTES_MAX), headers)).status).toBe(200);
    for (const bytes of [HTTP_BODY_BYTES_MAX + 1, CLIENT_FRAME_READ_BYTES_MAX]) {
      const answer = await post(url, path, padded(bytes), headers);
      expect(refusal(answer)).toEqual({ status: 400, code: 'invalid_argument', reason: 'PAYLOAD_TOO_LARGE', field: 'body' });
    }
  });

  it('without end are cut, and the server stays', async () => {
    const { url } = await start();
    const token = await server.token('alice');
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.on('error', () => {});
    const head = ['POST /qim.v1.SessionService/ListConversations HTTP/1.1', 'Host: localhost', 'Content-Type: application/json'];
    socket.write([...head, `Authorization: Bearer ${token}`, 'Transfer-Encoding: chunked', '', ''].join('\r\n'));
    const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
    const pour = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', pour);
    pour();
    socket.resume();
    await closed;
    expect((await call(url, 'SessionService/ListConversations', token, {})).status).toBe(200);
  });

  it.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['text', '"x"'],
    ['null', 'null'],
    ['nothing', ''],
  ])('of %s are refused', async (_, body) => {
    const { url } = await start();
    const answer = await post(url, path, body, bearer(await server.token('alice')));
    expect(refusal(answer)).toEqual({ status: 400, code: 'invalid_argument', reason: 'INVALID_ARGUMENT', field: 'body' });
  });

  it('that are no protobuf are refused', async () => {
    const { url } = await start();
    const headers = { ...bearer(await server.token('alice')), 'content-type': 'application/proto' };
    const answer = await post(url, path, Uint8Array.of(255, 255, 255), headers);
    expect(refusal(answer)).toMatchObject({ status: 400, reason: 'INVALID_ARGUMENT', field: 'body' });
  });

  it('that are compressed are refused with the typed detail', async () => {
    const { url } = await start();
    const headers = { ...bearer(await server.token('alice')), 'content-encoding': 'gzip' };
    const answer = await post(url, path, Uint8Array.of(0x1f, 0x8b), headers);
    expect(refusal(answer)).toMatchObject({ status: 400, reason: 'INVALID_ARGUMENT', field: 'Content-Encoding' });
  });
});

describe('faults', () => {
  const failing = (error: Error): TestServerOptions => ({
    store: (store) => ({ ...store, directory: { ...store.directory, page: () => Promise.reject(error) } }),
  });

  it('of the server tell nothing of themselves, and the log has them', async () => {
    const { url, log } = await start(failing(new TypeError('WRONGTYPE at msgrecord:{c01}:0:d_x')));
    const answer = await call(url, 'SessionService/ListConversations', await server.token('alice'), {});
    expect(refusal(answer)).toEqual({ status: 500, code: 'internal', reason: 'INTERNAL', field: '' });
    expect(JSON.stringify(answer.body)).not.toMatch(/msgrecord|WRONGTYPE|TypeError|\.ts/);
    const requestId = answer.headers.get('qim-request-id');
    const line = log.find(({ level }) => level === 'error');
    expect(line?.fields).toMatchObject({ requestId, method: 'qim.v1.SessionService/ListConversations', err: expect.any(TypeError) });
    expect(server.calls.at(-1)).toEqual({ method: 'qim.v1.SessionService/ListConversations', outcome: 'Internal' });
  });

  it('of a store that does not answer are retryable and name no key', async () => {
    const { unavailable } = await import('@qim/store');
    const { url } = await start(failing(unavailable('HGETALL view:{0:alice}')));
    const answer = await call(url, 'SessionService/ListConversations', await server.token('alice'), {});
    expect(refusal(answer)).toMatchObject({ status: 503, code: 'unavailable', reason: 'STORE_UNAVAILABLE' });
    expect(JSON.stringify(answer.body)).not.toMatch(/HGETALL|view:/);
  });
});

describe('beside the API', () => {
  it('tells that the process lives, whether the store answers, and what an acknowledgement is worth', async () => {
    let answers: () => Promise<void> = () => Promise.resolve();
    const { url, clock } = await start({ options: () => ({ ready: () => answers() }) });
    const get = async (path: string) => {
      const response = await fetch(new URL(path, url));
      return { status: response.status, body: await response.json() };
    };
    expect(await get('/healthz')).toEqual({ status: 200, body: { status: 'ok' } });
    expect(await get('/readyz')).toEqual({ status: 200, body: { ready: true, ackDurability: 'memory' } });
    answers = () => Promise.reject(new Error('away'));
    expect(await get('/readyz')).toEqual({ status: 503, body: { ready: false, reason: 'store', ackDurability: 'memory' } });
    let asked = () => {};
    const wasAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    answers = () => {
      asked();
      return new Promise(() => {});
    };
    const silent = get('/readyz');
    await wasAsked;
    clock.advance(2_000);
    expect((await silent).status).toBe(503);
  });

  it('tells how many replicas an acknowledgement waits for, where it waits for any', async () => {
    const { url } = await start({ options: () => ({ ackReplicas: 2 }) });
    const ready = await fetch(new URL('/readyz', url));
    expect(await ready.json()).toEqual({ ready: true, ackDurability: 'memory', ackReplicas: 2 });
  });

  it('shows the metrics', async () => {
    const { url } = await start();
    const response = await fetch(new URL('/metrics', url));
    expect(await response.text()).toBe('qim_up 1\n');
  });

  it('serves the page with headers that let nothing else in', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'qim-page-'));
    await writeFile(join(folder, 'index.html'), '<title>qim</title>');
    await writeFile(join(folder, '.secret'), 'x');
    try {
      const { url } = await start({ options: () => ({ pageFolder: folder }) });
      const page = await fetch(url);
      expect(await page.text()).toBe('<title>qim</title>');
      expect(page.headers.get('content-security-policy')).toMatch(/default-src 'self'; connect-src 'self'.*frame-ancestors 'none'/);
      expect(page.headers.get('content-security-policy')).not.toMatch(/unsafe/);
      expect(page.headers.get('x-content-type-options')).toBe('nosniff');
      expect(page.headers.get('referrer-policy')).toBe('no-referrer');
      expect(page.headers.get('access-control-allow-origin')).toBeNull();
      for (const path of ['/.secret', '/nothing.js', '/..%2f..%2f..%2f..%2fetc%2fpasswd', '/%2e%2e/%2e%2e/etc/passwd']) {
        expect((await fetch(new URL(path, url))).status).toBeOneOf([400, 403, 404]);
      }
      const answer = await call(url, 'SessionService/ListConversations', undefined, {});
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('the login of --dev', () => {
  const dev: TestServerOptions = { options: () => ({ devLogin: true }) };

  it('gives a token to whoever asks', async () => {
    const { url } = await start(dev);
    const { status, body } = await post(url, '/dev/login', JSON.stringify({ user: 'alice', device: 'tab' }));
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['token']);
    const sent = await call(url, 'MessageService/SendMessage', body.token, TEXT);
    expect(sent.body.message).toMatchObject({ senderUserId: 'alice', senderDeviceId: 'tab' });
  });

  it('is not there without --dev', async () => {
    const { url } = await start();
    expect((await post(url, '/dev/login', '{"user":"alice"}')).status).toBe(404);
  });

  it.each([
    ['{}', 'user'],
    ['{"user":""}', 'user'],
    ['{"user":5}', 'user'],
    [JSON.stringify({ user: 'x'.repeat(65) }), 'user'],
    ['{"user":"a","device":""}', 'device'],
    ['{"user":"a","device":null}', 'device'],
    ['[]', 'user'],
    ['"x"', 'body'],
    ['{', 'body'],
    ['', 'body'],
  ])('refuses %s by field', async (body, field) => {
    const { url } = await start(dev);
    expect(await post(url, '/dev/login', body)).toMatchObject({ status: 400, body: { code: 'invalid_argument', field } });
  });

  it('refuses another page, and what a form could send', async () => {
    const { url } = await start(dev);
    const body = '{"user":"alice"}';
    expect((await post(url, '/dev/login', body, { origin: 'http://evil.example' })).status).toBe(403);
    expect((await post(url, '/dev/login', body, { origin: 'null' })).status).toBe(403);
    expect((await post(url, '/dev/login', body, { origin: new URL(url).origin })).status).toBe(200);
    expect((await post(url, '/dev/login', body, { 'content-type': 'text/plain' })).status).toBe(415);
  });

  it('answers only to the names of this machine, so that no other name can be pointed at it', async () => {
    const { url } = await start(dev);
    const { port } = new URL(url);
    const ask = (host: string) => rawStatus(Number(port), `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    for (const host of ['localhost', `localhost:${port}`, '127.0.0.1', `LOCALHOST:${port}`, '[::1]', `[::1]:${port}`]) {
      expect([host, await ask(host)]).toEqual([host, 200]);
    }
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      'localhost.evil.example',
      '127.0.0.2',
      '[::2]',
      'localhost@evil.example',
      '^^',
    ]) {
      expect([host, await ask(host)]).toEqual([host, 403]);
    }
  });
});

it('answers a request without a usable host rather than leaving it open', async () => {
  const { url } = await start();
  const port = Number(new URL(url).port);
  const request = (version: string, host: string) =>
    `POST /qim.v1.SessionService/ListConversations HTTP/${version}\r\n${host}Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`;
  expect(await rawStatus(port, request('1.1', 'Host: ^^\r\n'))).toBe(403);
  expect(await rawStatus(port, request('1.0', ''))).toBe(403);
  expect(await rawStatus(port, request('1.1', 'Host: chat.example\r\n'))).toBe(401);
});

function rawStatus(port: number, request: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    let text = '';
    socket.on('data', (data) => {
      text += String(data);
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(Number(text.split(' ')[1])));
  });
}

it('lists a damaged conversation without numbers, beside the sound ones', async () => {
  const broken = new Set<string>();
  const { url } = await start({ store: (store) => damaging(store, broken) });
  const alice = await server.token('alice');
  const { conversationId } = (await call(url, 'MessageService/SendMessage', alice, TEXT)).body.message;
  broken.add(conversationId);
  await call(url, 'MessageService/SendMessage', alice, { ...TEXT, toUserId: 'carol' });
  const { body } = await call(url, 'SessionService/ListConversations', alice, {});
  expect(body.damagedCount).toBe(1);
  const [sound, entry] = body.conversations[0].conversationId === conversationId ? body.conversations.toReversed() : body.conversations;
  expect(entry.damaged).toEqual({ reason: 'CORRUPT_RECORD', conversationSeq: '0', what: 'recordMissing' });
  for (const number of NUMBERS) {
    expect(entry).not.toHaveProperty(number);
    expect(sound).toHaveProperty(number);
  }
  const one = await call(url, 'SessionService/GetConversation', alice, { conversationId });
  expect(one).toMatchObject({ status: 200, body: { conversation: { damaged: { reason: 'CORRUPT_RECORD' } } } });
});

const NUMBERS = [
  'latestConversationSeq',
  'lastActivityId',
  'lastMessageId',
  'readConversationSeq',
  'unreadCount',
  'unreadExact',
  'mentionCount',
];
