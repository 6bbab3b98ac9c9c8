/** One test for each kind of attack that docs/security.md names, against a whole server. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { HTTP_BODY_BYTES_MAX, TEXT_BYTES_MAX } from '@qim/proto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startTestServer, type TestServer } from './running.js';

let server: TestServer;
let folder: string;
let token: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qim-threats-'));
  await mkdir(join(folder, 'page'));
  await writeFile(join(folder, 'page', 'index.html'), '<title>the page</title>');
  await writeFile(join(folder, 'page', '.env'), 'hidden');
  await writeFile(join(folder, 'outside.txt'), 'outside');
  server = await startTestServer({ logLevel: 'info' }, { pageFolder: join(folder, 'page') });
  token = await server.token({ user: 'alice' });
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

/** What a client that keeps to no rule sends, byte for byte, and all that comes back until the server closes: ask it to. */
async function raw(request: string): Promise<string> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => {});
  socket.write(request, 'latin1');
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
}

const send = (body: object, headers: Record<string, string> = {}) => server.call('qim.v1.MessageService/SendMessage', token, body, headers);
const direct = (more: object) => ({ toUserId: 'bob', clientMessageId: randomUUID(), type: 'MESSAGE_TYPE_TEXT', text: 'x', ...more });

test('log injection: what a caller sends begins no line of the log, and an id with line ends is not taken over', async () => {
  const admin = await server.token({ user: 'backend', admin: true });
  const forged = '\n{"level":60,"msg":"forged"}\r\n';
  const before = server.lines.err.length;
  await server.call('qim.v1.AdminService/SuspendUser', admin, { userId: `x${forged}`, suspended: true });
  await server.call('qim.v1.AdminService/SuspendUser', admin, { userId: 'x', suspended: true }, { 'Qim-Request-Id': 'a b"}' });
  const written = server.lines.err.slice(before);
  expect(written.length).toBeGreaterThanOrEqual(2);
  for (const line of written) {
    expect(line).not.toContain('\n');
    expect(JSON.parse(line)).toMatchObject({ level: 30, kind: 'audit' });
    expect((JSON.parse(line) as { requestId: string }).requestId).toMatch(/^[0-9a-f-]{36}$/);
  }
});

test('prototype pollution: names of what objects inherit are fields that nobody knows', async () => {
  const evil = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1,';
  const body = `${evil}${JSON.stringify(direct({})).slice(1)}`;
  const answer = await fetch(new URL('/qim.v1.MessageService/SendMessage', server.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body,
  });
  expect([answer.status, ({} as { polluted?: unknown }).polluted]).toEqual([200, undefined]);
  for (const user of ['__proto__', 'constructor', 'hasOwnProperty']) {
    const own = await server.token({ user });
    expect((await server.call('qim.v1.SessionService/ListConversations', own, {})).status).toBe(200);
    expect((await server.call('qim.v1.ProfileService/GetProfiles', own, { userIds: [user] })).status).toBe(200);
  }
  for (const name of ['__proto__/x', 'constructor', 'toString']) expect((await server.call(name, token, {})).status).toBe(404);
});

test('catastrophic regular expressions: texts that take them long are answered as fast as others of their length', async () => {
  const texts = [
    `${'a'.repeat(TEXT_BYTES_MAX - 1)}!`,
    ' '.repeat(TEXT_BYTES_MAX),
    '('.repeat(TEXT_BYTES_MAX),
    '1.'.repeat(TEXT_BYTES_MAX / 2),
  ];
  const started = performance.now();
  for (const text of texts) {
    expect((await send(direct({ text }))).status).toBe(200);
    for (const field of ['conversationId', 'toUserId', 'clientMessageId', 'type'])
      expect((await send(direct({ [field]: text }))).status).toBe(400);
    expect((await server.call('qim.v1.SessionService/ListConversations', token, { pageToken: text })).status).toBe(400);
    const header = text.slice(0, 8_000);
    for (const name of ['Host', 'Origin', 'X-Forwarded-For', 'Authorization', 'Qim-Request-Id', 'Content-Type']) {
      const host = name === 'Host' ? '' : 'Host: 127.0.0.1\r\n';
      expect(await raw(`POST /qim.v1.SessionService/GetTotals HTTP/1.1\r\n${host}${name}: ${header}\r\nConnection: close\r\n\r\n`)).toMatch(
        /^HTTP\/1\.1 4/,
      );
    }
  }
  // One such expression takes minutes for one such text; all of these take well under a second on an idle machine.
  expect(performance.now() - started).toBeLessThan(30_000);
});

test('header abuse: what no client means is refused, and never answered as if it had been meant', async () => {
  const list = 'POST /qim.v1.SessionService/ListConversations HTTP/1.1\r\nHost: 127.0.0.1\r\n';
  const json = `Content-Type: application/json\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n`;
  const refused = [
    // Two lengths, or a length and chunks: two servers in a row would cut the requests apart in different places.
    `${list}${json}Content-Length: 2\r\nContent-Length: 5\r\n\r\n{}abc`,
    `${list}${json}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    `${list}${json}Content-Length : 2\r\n\r\n{}`,
    `${list}${json}X-Long: ${'x'.repeat(20_000)}\r\nContent-Length: 2\r\n\r\n{}`,
    `${list}${json}X-Null: a\0b\r\nContent-Length: 2\r\n\r\n{}`,
    `POST /qim.v1.SessionService/ListConversations HTTP/1.1\r\n${json}Content-Length: 2\r\n\r\n{}`,
    `POST /qim.v1.SessionService/ListConversations HTTP/1.1\r\nHost: evil@127.0.0.1\r\n${json}Content-Length: 2\r\n\r\n{}`,
  ];
  for (const request of refused) expect(await raw(request), request.slice(0, 200)).toMatch(/^HTTP\/1\.1 4\d\d /);
  const split = await raw(`${list}${json}Qim-Request-Id: x%0d%0aSet-Cookie:%20a=b\r\nContent-Length: 2\r\n\r\n{}`);
  expect(split).toMatch(/^HTTP\/1\.1 200 /);
  expect(split.toLowerCase()).not.toContain('set-cookie');
});

test('path traversal: nothing outside the folder of the page is served, and nothing hidden in it', async () => {
  expect(await raw('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n')).toContain('the page');
  const paths = [
    ...['/../outside.txt', '/..%2foutside.txt', '/%2e%2e/outside.txt', '/..%5coutside.txt', '/%252e%252e/outside.txt', '/.env', '/%2eenv'],
    ...[
      '//../outside.txt',
      '/assets/../../outside.txt',
      '/index.html/../../outside.txt',
      '/..;/outside.txt',
      '/\\..\\outside.txt',
      '/%00.html',
    ],
    ...['/../../../../../../etc/passwd', `/${'../'.repeat(50)}etc/passwd`, 'http://127.0.0.1/../outside.txt'],
  ];
  for (const path of paths) {
    const answer = await raw(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
    expect(answer, path).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(answer, path).not.toMatch(/outside$|hidden|root:/);
  }
});

test('compression bombs: nothing that is packed is unpacked, over HTTP or WebSocket', async () => {
  const bomb = gzipSync(Buffer.alloc(16 * HTTP_BODY_BYTES_MAX, ' '));
  expect(bomb.length).toBeLessThan(HTTP_BODY_BYTES_MAX);
  for (const encoding of ['gzip', 'br', 'deflate', 'gzip, gzip']) {
    const answer = await fetch(new URL('/qim.v1.SessionService/ListConversations', server.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': encoding, authorization: `Bearer ${token}` },
      body: Uint8Array.from(bomb),
    });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
  }
  const socket = new WebSocket(new URL('/ws', server.url.replace(/^http/, 'ws')), ['qim.v1+json'], { perMessageDeflate: true });
  await once(socket, 'open');
  expect(socket.extensions).toBe('');
  socket.terminate();
});
