/** `qim serve` as people run it: real processes, real files, a real Redis. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { CloseCode } from '@qim/proto';
import { startRedis } from '@qim/store/testing';
import { afterAll, afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { killAll, type Process, startQim } from './processes.js';
import { call, SECRET, temporaryFolder } from './running.js';

let cwd: string;
let remove: () => Promise<void>;
beforeEach(async () => {
  ({ folder: cwd, remove } = await temporaryFolder());
});
afterEach(async () => {
  killAll();
  await remove();
});
afterAll(killAll);

const SEND = 'qim.v1.MessageService/SendMessage';
const qim = (...args: string[]): Process => startQim(args, { cwd });
const dev = (...args: string[]): Process => qim('serve', '--dev', '--port', '0', ...args);

async function login(url: string, user: string): Promise<string> {
  const { token } = (await (await call(url, 'dev/login', undefined, { user })).json()) as { token: string };
  return token;
}

async function send(url: string, from: string, to: string, text: string): Promise<{ conversationId: string }> {
  const body = { toUserId: to, clientMessageId: randomUUID(), type: 'MESSAGE_TYPE_TEXT', text };
  const response = await call(url, SEND, await login(url, from), body);
  expect(response.status).toBe(200);
  const { message } = (await response.json()) as { message: { conversationId: string } };
  return message;
}

interface Listed {
  readonly conversations: readonly { readonly unreadCount: number; readonly preview: { readonly snippet: string } }[];
}

async function list(url: string, user: string): Promise<Listed['conversations']> {
  const response = await call(url, 'qim.v1.SessionService/ListConversations', await login(url, user), {});
  return ((await response.json()) as Listed).conversations;
}

/** Ends with that code, says nothing on standard output, and one line on standard error. */
async function refused({ ended, out, err }: Process, code: number, words: string): Promise<void> {
  expect([await ended, out], err.join('\n')).toEqual([code, []]);
  expect(err).toHaveLength(1);
  expect(err[0]).toContain(words);
}

test('--dev: banner, one ready line as the last, a secret for the owner alone, a login, and a message', async () => {
  const { ready, out } = dev();
  const url = await ready;
  expect(out[0]).toContain('--dev');
  expect(out.join('\n')).toContain('acknowledgement: synced');
  expect(out.filter((line) => line.startsWith('qim ready at'))).toEqual([out.at(-1)]);
  expect((await stat(join(cwd, 'qim-data', 'dev-secret'))).mode & 0o777).toBe(0o600);
  await send(url, 'alice', 'bob', 'hello');
  expect(await list(url, 'bob')).toMatchObject([{ unreadCount: 1, preview: { snippet: 'hello' } }]);
});

test('history is there after a restart, and after a kill', async () => {
  const first = dev();
  await send(await first.ready, 'alice', 'bob', 'one');
  first.child.kill('SIGTERM');
  expect(await first.ended).toBe(0);
  const second = dev();
  await send(await second.ready, 'alice', 'bob', 'two');
  second.child.kill('SIGKILL');
  await second.ended;
  const url = await dev().ready;
  expect(await list(url, 'bob')).toMatchObject([{ unreadCount: 2, preview: { snippet: 'two' } }]);
});

test('without a secret, a JWKS URL or --dev it refuses to start: usage error', async () => {
  await refused(qim('serve'), 2, '--jwt-secret-file');
});

test('--dev refuses an address that others reach: usage error', async () => {
  await refused(qim('serve', '--dev', '--host', '0.0.0.0'), 2, 'loopback');
});

test('a misspelt variable is refused: usage error', async () => {
  await refused(startQim(['serve', '--dev'], { cwd, env: { QIM_PROT: '1' } }), 2, 'QIM_PROT');
});

test('a second server on the same data folder is refused, and the first goes on', async () => {
  const url = await dev().ready;
  await refused(dev(), 1, 'another qim server');
  await send(url, 'alice', 'bob', 'still here');
});

test('a port in use is refused in one line', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  await refused(qim('serve', '--dev', '--port', String(port), '--log-level', 'error'), 1, `127.0.0.1:${port} is in use`);
});

test('a Redis that is not there is refused in one line, without its password', async () => {
  const process = dev('--store', 'redis://:hunter2@127.0.0.1:1');
  await refused(process, 1, '127.0.0.1:1');
  expect(process.err.join('\n')).not.toContain('hunter2');
});

test('a token of `qim token` opens the --dev server of the same folder', async () => {
  const url = await dev().ready;
  const { ended, out } = qim('token', '--user', 'alice');
  expect(await ended).toBe(0);
  expect((await call(url, 'qim.v1.SessionService/ListConversations', out.at(-1), {})).status).toBe(200);
});

test('SIGTERM: a send in flight is answered, sockets are told to connect again, exit code 0; on Redis', async () => {
  const redis = await startRedis({ appendonly: 'always' });
  onTestFinished(() => redis.stop());
  await writeFile(join(cwd, 'secret'), `${SECRET}\n`);
  const server = qim('serve', '--port', '0', '--store', redis.url, '--jwt-secret-file', 'secret', '--require-durable');
  const url = await server.ready;
  expect(server.out.join('\n')).toContain('acknowledgement: synced');
  const minted = qim('token', '--user', 'alice', '--jwt-secret-file', 'secret');
  await minted.ended;

  const socket = new WebSocket(new URL('ws', url), 'qim.v1+json');
  const answers: string[] = [];
  socket.on('message', (data) => answers.push(String(data)));
  await once(socket, 'open');
  socket.send(JSON.stringify({ id: 0, hello: { token: minted.out.at(-1) } }));
  await vi.waitFor(() => expect(answers).toHaveLength(1));
  const closed = once(socket, 'close');

  // Redis holds its answer back; the pong says that the server has read the call.
  redis.pause();
  const body = { toUserId: 'bob', clientMessageId: randomUUID(), type: 'MESSAGE_TYPE_TEXT', text: 'in flight' };
  socket.send(JSON.stringify({ id: 1, call: { method: SEND, body } }));
  socket.ping();
  await once(socket, 'pong');
  server.child.kill('SIGTERM');
  await vi.waitFor(async () => expect((await fetch(new URL('readyz', url))).status).toBe(503));
  redis.resume();

  const [code] = (await closed) as [number];
  expect(JSON.parse(answers[1] ?? '')).toMatchObject({ id: 1, reply: { message: { text: 'in flight' } } });
  expect(code).toBe(CloseCode.ServerStopping);
  expect(await server.ended).toBe(0);
});

test('on Redis without persistence --require-durable refuses, and without it the warning is loud', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  await refused(dev('--store', redis.url, '--require-durable'), 1, 'durable');
  const { ready, err } = dev('--store', redis.url);
  await send(await ready, 'alice', 'bob', 'hello');
  expect(err.join('\n')).toMatch(/WARNING/);
});

test('history on Redis is there after a restart of the server, and two servers share it', async () => {
  const redis = await startRedis({ appendonly: 'everysec' });
  onTestFinished(() => redis.stop());
  const first = dev('--store', redis.url);
  await send(await first.ready, 'alice', 'bob', 'one');
  first.child.kill('SIGTERM');
  expect(await first.ended).toBe(0);
  const [one, two] = await Promise.all([dev('--store', redis.url).ready, dev('--store', redis.url).ready]);
  await send(one, 'alice', 'bob', 'two');
  expect(await list(two, 'bob')).toMatchObject([{ unreadCount: 2, preview: { snippet: 'two' } }]);
});
