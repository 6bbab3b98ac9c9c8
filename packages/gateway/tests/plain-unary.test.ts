/** The short way answers what Connect's own handler answers: status, headers and body, byte for byte. */
import { connect } from 'node:net';
import { create, toBinary } from '@bufbuild/protobuf';
import { HTTP_BODY_BYTES_MAX } from '@qim/proto';
import { GetConversationRequestSchema, SendMessageRequestSchema } from '@qim/proto/schema';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { bearer } from './support/http.js';
import { startServer, type TestServer } from './support/server.js';

let short: TestServer;
let plain: TestServer;
beforeAll(async () => {
  short = await startServer({ options: () => ({ fastPaths: true }) });
  plain = await startServer({ options: () => ({ fastPaths: false }) });
});
afterAll(async () => {
  await short.close();
  await plain.close();
});

const SEND = '/qim.v1.MessageService/SendMessage';
const GET = '/qim.v1.SessionService/GetConversation';
const LIST = '/qim.v1.SessionService/ListConversations';
const JSON_TYPE = { 'content-type': 'application/json' };
const PROTO_TYPE = { 'content-type': 'application/proto' };
/** Without what is new in each answer. */
const VARIES = new Set(['date', 'qim-request-id']);

interface Asked {
  readonly path: string;
  readonly body: string | Uint8Array;
  readonly headers: Record<string, string>;
}

async function answerOf({ url }: TestServer, { path, body, headers }: Asked) {
  const response = await fetch(new URL(path, url), { method: 'POST', headers, body: body as string });
  const told = [...response.headers].filter(([name]) => !VARIES.has(name));
  return { status: response.status, headers: told, body: Buffer.from(await response.arrayBuffer()).toString('latin1') };
}

async function both(asked: Asked, user: string | undefined) {
  const on = async (server: TestServer) => {
    const token = user === undefined ? undefined : await server.token(user);
    return answerOf(server, { ...asked, headers: { ...bearer(token), ...asked.headers } });
  };
  return { short: await on(short), plain: await on(plain) };
}

const LONG = 'x'.repeat(HTTP_BODY_BYTES_MAX + 1);
const NOWHERE = JSON.stringify({ conversationId: 'd_nowhere' });
const proto = (conversationId: string) => toBinary(GetConversationRequestSchema, create(GetConversationRequestSchema, { conversationId }));
const cases: [string, Asked, string | undefined][] = [
  ['an empty list', { path: LIST, body: '{}', headers: JSON_TYPE }, 'alice'],
  ['an empty list in protobuf', { path: LIST, body: new Uint8Array(), headers: PROTO_TYPE }, 'alice'],
  ['the version of the protocol', { path: LIST, body: '{}', headers: { ...JSON_TYPE, 'connect-protocol-version': '1' } }, 'alice'],
  ['a deadline, which is the client’s own', { path: LIST, body: '{}', headers: { ...JSON_TYPE, 'connect-timeout-ms': '1' } }, 'alice'],
  ['an unknown member', { path: LIST, body: '{"no":1}', headers: JSON_TYPE }, 'alice'],
  ['no token', { path: LIST, body: '{}', headers: JSON_TYPE }, undefined],
  ['a forged token', { path: LIST, body: '{}', headers: { ...JSON_TYPE, authorization: 'Bearer a.b.c' } }, undefined],
  ['no such conversation', { path: GET, body: NOWHERE, headers: JSON_TYPE }, 'alice'],
  ['no such conversation in protobuf', { path: GET, body: proto('d_nowhere'), headers: PROTO_TYPE }, 'alice'],
  ['a field that is wrong', { path: GET, body: '{"conversationId":"no id"}', headers: JSON_TYPE }, 'alice'],
  ['a field of a wrong type', { path: GET, body: '{"conversationId":1}', headers: JSON_TYPE }, 'alice'],
  ['no JSON', { path: GET, body: '{', headers: JSON_TYPE }, 'alice'],
  ['no body', { path: GET, body: '', headers: JSON_TYPE }, 'alice'],
  ['no protobuf', { path: GET, body: Uint8Array.of(0x0a, 0xff), headers: PROTO_TYPE }, 'alice'],
  ['a body past the bound', { path: GET, body: LONG, headers: JSON_TYPE }, 'alice'],
  ['a body past the bound of one whom nobody knows', { path: GET, body: LONG, headers: JSON_TYPE }, undefined],
  ['an admin’s method', { path: '/qim.v1.AdminService/MintToken', body: '{"userId":"bob"}', headers: JSON_TYPE }, 'alice'],
  [
    'on behalf of somebody, without being an admin',
    { path: LIST, body: '{}', headers: { ...JSON_TYPE, 'qim-on-behalf-of': 'bob' } },
    'alice',
  ],
  ['a charset', { path: LIST, body: '{}', headers: { 'content-type': 'application/json; charset=utf-8' } }, 'alice'],
  ['an encoding', { path: LIST, body: '{}', headers: { ...JSON_TYPE, 'content-encoding': 'gzip' } }, 'alice'],
  ['another type', { path: LIST, body: '{}', headers: { 'content-type': 'text/plain' } }, 'alice'],
  ['no such method', { path: '/qim.v1.SessionService/No', body: '{}', headers: JSON_TYPE }, 'alice'],
  ['a query', { path: `${LIST}?a=1`, body: '{}', headers: JSON_TYPE }, 'alice'],
];

test.each(cases)('%s: the same answer', async (_, asked, user) => {
  const { short: fast, plain: slow } = await both(asked, user);
  expect(fast).toEqual(slow);
});

test('a message that was sent comes back the same, in JSON and in protobuf', async () => {
  const input = { clientMessageId: 'c1', text: 'grüße 👋' };
  const json = await both({ path: SEND, body: JSON.stringify({ ...input, toUserId: 'bob', type: 1 }), headers: JSON_TYPE }, 'alice');
  const ids = /"(messageId|activityId)":"[^"]+"/g;
  const withoutIds = ({ status, body }: { status: number; body: string }) => ({ status, body: body.replace(ids, '') });
  expect(withoutIds(json.short)).toEqual(withoutIds(json.plain));
  const request = create(SendMessageRequestSchema, {
    target: { case: 'toUserId', value: 'bob' },
    clientMessageId: 'c2',
    type: 1,
    body: { case: 'text', value: input.text },
  });
  const binary = await both({ path: SEND, body: toBinary(SendMessageRequestSchema, request), headers: PROTO_TYPE }, 'alice');
  expect([binary.short.status, binary.short.body.length]).toEqual([binary.plain.status, binary.plain.body.length]);
});

test('a body that never ends is no answer and no harm: the call ends with its connection', async () => {
  const token = await short.token('alice');
  const before = short.calls.length;
  const socket = connect({ port: Number(new URL(short.url).port), host: '127.0.0.1' });
  const head = ['Host: 127.0.0.1', `Authorization: Bearer ${token}`, 'Content-Type: application/json', 'Content-Length: 100'];
  await new Promise((resolve) => socket.write(`POST ${LIST} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n{`, resolve));
  socket.destroy();
  await vi.waitFor(() => expect(short.calls.length).toBe(before + 1));
});

test('a token that was found right is looked at again by the clock', async () => {
  const token = await short.token('carol', { ttlSeconds: 10 });
  const asked = { path: LIST, body: '{}', headers: { ...JSON_TYPE, ...bearer(token) } };
  expect((await answerOf(short, asked)).status).toBe(200);
  short.clock.advance(9_000);
  expect((await answerOf(short, asked)).status).toBe(200);
  short.clock.advance(1_000);
  expect(await answerOf(short, asked)).toMatchObject({ status: 401, body: expect.stringContaining('expired') });
});
