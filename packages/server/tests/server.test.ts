import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CloseCode, RELEASE_DEADLINE_MS } from '@qim/proto';
import type { Store } from '@qim/store';
import { openMemoryStore } from '@qim/store/memory';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { realClock } from '../src/clock.js';
import { loadConfig } from '../src/config.js';
import { StartError, type StartErrorCode } from '../src/errors.js';
import { startServer } from '../src/server.js';
import { call, SECRET, startTestServer, type TestServer, temporaryFolder, testIo } from './running.js';

const running: TestServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
});

async function started(...args: Parameters<typeof startTestServer>): Promise<TestServer> {
  const server = await startTestServer(...args);
  running.push(server);
  return server;
}

const refusal = (code: StartErrorCode, words: string) => (error: unknown) =>
  error instanceof StartError && error.code === code && error.message.includes(words) && !error.message.includes('\n');

const text = (to: string) => ({ toUserId: to, clientMessageId: randomUUID(), type: 'MESSAGE_TYPE_TEXT', text: 'hello' });
const SEND = 'qim.v1.MessageService/SendMessage';

/** A store whose commits wait until `release`; `entered` resolves when the first one does. */
function gatedStore(store: Store, committed: () => void = () => {}) {
  const { promise: entered, resolve: enter } = deferred();
  const { promise: gate, resolve: release } = deferred();
  const messages = Object.create(store.messages) as Store['messages'];
  messages.commit = async (request) => {
    enter();
    await gate;
    const outcome = await store.messages.commit(request);
    committed();
    return outcome;
  };
  return { store: { ...store, messages }, entered, release };
}

function deferred() {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

test('standard output has the banner and, last, one ready line with the URL', async () => {
  const server = await started();
  expect(server.lines.out.at(-1)).toBe(`qim ready at ${server.url}`);
  expect(server.lines.out.filter((line) => line.includes('ready'))).toHaveLength(1);
  expect(server.url).toBe(`http://127.0.0.1:${server.port}/`);
  expect(server.lines.out.join('\n')).toContain('acknowledgement: memory');
});

test('a store whose acknowledgements are worth nothing is warned of loudly, on standard error', async () => {
  const server = await started();
  expect(server.lines.err.join('\n')).toMatch(/WARNING.*\n.*LOST/);
  const durable = await started({}, { store: { ...openMemoryStore(), ackDurability: 'everysec' } });
  expect(durable.lines.err).toEqual([]);
  expect(durable.lines.out.join('\n')).toContain('acknowledgement: everysec');
});

test('replicas that an acknowledgement waits for are told, and loudly when there are too few', async () => {
  const with_ = (seen: number) => ({ store: { ...openMemoryStore(), ackReplicas: { wanted: 2, seen } } });
  const enough = await started({}, with_(2));
  expect(enough.lines.out.join('\n')).toContain('with 2 of them');
  expect(enough.lines.err.join('\n')).not.toContain('NOTHING is acknowledged');
  expect((await started({}, with_(1))).lines.err.join('\n')).toMatch(/--ack-replicas 2, and a primary has 1.*\n.*NOTHING is acknowledged/);
});

test('--require-durable refuses memory, takes everysec, and leaves no store open', async () => {
  const store = openMemoryStore();
  const close = vi.spyOn(store, 'close');
  await expect(startTestServer({ requireDurable: 'true' }, { store })).rejects.toSatisfy(refusal('NotDurable', '--require-durable'));
  expect(close).toHaveBeenCalledOnce();
  await started({ requireDurable: 'true' }, { store: { ...openMemoryStore(), ackDurability: 'everysec' } });
});

test('a missing page is said in one line, and the API is served without it', async () => {
  const server = await started();
  expect(server.lines.out.filter((line) => line.startsWith('page:'))).toHaveLength(1);
  expect((await fetch(server.url)).status).toBe(404);
  expect((await server.call(SEND, await server.token({ user: 'alice' }), text('bob'))).status).toBe(200);
});

test('the built page is served at /', async () => {
  const { folder, remove } = await temporaryFolder();
  onTestFinished(remove);
  await writeFile(join(folder, 'index.html'), '<title>qim</title>');
  const server = await started({}, { pageFolder: folder });
  expect(await (await fetch(server.url)).text()).toBe('<title>qim</title>');
});

test('--dev makes a secret in the data folder, says what it is, and signs in under any name', async () => {
  const { folder, remove } = await temporaryFolder();
  onTestFinished(remove);
  const io = testIo(openMemoryStore({ now: Date.now }));
  const server = await startServer(loadConfig({ flags: { dev: 'true', port: '0', data: folder }, environment: {} }), io);
  onTestFinished(() => server.stop());
  expect(io.lines.out[0]).toContain('--dev');
  const login = await call(server.url, 'dev/login', undefined, { user: 'alice' });
  const { token } = (await login.json()) as { token: string };
  expect((await call(server.url, SEND, token, text('bob'))).status).toBe(200);
});

test('without --dev there is no login', async () => {
  const server = await started();
  expect((await server.call('dev/login', undefined, { user: 'alice' })).status).toBe(404);
});

test('a token by the previous secret still verifies, and one by another does not', async () => {
  const { folder, remove } = await temporaryFolder();
  onTestFinished(remove);
  const jwtSecretFile = join(folder, 'two');
  await writeFile(jwtSecretFile, `the new secret, which has more than 32 bytes\n${SECRET}\n`);
  const server = await started({ jwtSecretFile });
  expect((await server.call(SEND, await server.token({ user: 'alice' }), text('bob'))).status).toBe(200);
  await writeFile(jwtSecretFile, 'the new secret, which has more than 32 bytes\n');
  const later = await started({ jwtSecretFile });
  expect((await later.call(SEND, await later.token({ user: 'alice' }), text('bob'))).status).toBe(401);
});

test('a port in use is told in one line, and the store is closed again', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  onTestFinished(() => void other.close());
  const { port } = other.address() as { port: number };
  const store = openMemoryStore();
  const close = vi.spyOn(store, 'close');
  await expect(startTestServer({ port: String(port) }, { store })).rejects.toSatisfy(refusal('PortInUse', `127.0.0.1:${port} is in use`));
  expect(close).toHaveBeenCalledOnce();
});

test('an address that is not of this machine is told in one line', async () => {
  await expect(startTestServer({ host: '203.0.113.1' })).rejects.toSatisfy(refusal('CannotListen', '203.0.113.1 is no address'));
});

test('the role session serves SessionService alone, and the role push serves no call at all', async () => {
  const session = await started({ roles: 'session' });
  const token = await session.token({ user: 'alice' });
  expect((await session.call('qim.v1.SessionService/ListConversations', token, {})).status).toBe(200);
  expect((await session.call(SEND, token, text('bob'))).status).toBe(404);
  const push = await started({ roles: 'push' });
  expect((await push.call('qim.v1.SessionService/ListConversations', token, {})).status).toBe(404);
  for (const path of ['healthz', 'readyz', 'metrics']) expect((await fetch(new URL(path, push.url))).status, path).toBe(200);
});

test('only the role push takes partitions of the outbox', async () => {
  const store = openMemoryStore({ now: Date.now });
  const acquire = vi.spyOn(store.outbox, 'acquire');
  await started({ roles: 'session' }, { store });
  expect(acquire).not.toHaveBeenCalled();
  await started({ roles: 'push' }, { store });
  expect(acquire).toHaveBeenCalled();
});

test('what happens is counted', async () => {
  const server = await started();
  const token = await server.token({ user: 'alice' });
  const body = text('bob');
  for (let i = 0; i < 2; i += 1) await server.call(SEND, token, body);
  await server.call(SEND, token, { ...body, text: 'other content' });
  const told = await (await fetch(new URL('metrics', server.url))).text();
  expect(told).toContain('qim_commits_total 1\n');
  expect(told).toContain(`qim_call_seconds_count{method="${SEND}",outcome="ok"} 2\n`);
  expect(told).toContain(`qim_call_seconds_count{method="${SEND}",outcome="IdempotencyConflict"} 1\n`);
});

test('a stop says 503 at /readyz, answers what is in flight, closes sockets with 4500, and closes the store last', async () => {
  const events: string[] = [];
  const memory = openMemoryStore({ now: Date.now });
  const closing = { ...memory, close: async () => void events.push('store closed') };
  const gated = gatedStore(closing, () => events.push('committed'));
  const server = await started({}, { store: gated.store });
  const token = await server.token({ user: 'alice' });
  const socket = new WebSocket(new URL('ws', server.url), 'qim.v1+json');
  socket.once('open', () => socket.send(JSON.stringify({ id: 0, hello: { token } })));
  await once(socket, 'message');
  socket.once('close', (code) => events.push(`socket closed ${code}`));

  const inFlight = server.call(SEND, token, text('bob'));
  await gated.entered;
  const stopped = server.stop().then(() => events.push('stopped'));
  await vi.waitFor(async () => expect((await fetch(new URL('readyz', server.url))).status).toBe(503));
  expect((await server.call(SEND, token, text('carol'))).status).toBe(503);
  expect(events.filter((event) => event !== `socket closed ${CloseCode.ServerStopping}`)).toEqual([]);

  gated.release();
  expect((await inFlight).status).toBe(200);
  await stopped;
  await vi.waitFor(() => expect(events).toContain(`socket closed ${CloseCode.ServerStopping}`));
  expect(events.filter((event) => !event.startsWith('socket'))).toEqual(['committed', 'store closed', 'stopped']);
  await expect(fetch(server.url)).rejects.toThrow();
});

test('what does not finish within --drain-timeout is cut, and the stop ends', async () => {
  const gated = gatedStore(openMemoryStore({ now: Date.now }));
  const server = await started({ drainTimeout: '50ms' }, { store: gated.store });
  const cut = server.call(SEND, await server.token({ user: 'alice' }), text('bob')).then(
    (response) => response.status,
    () => 'cut',
  );
  await gated.entered;
  await server.stop();
  expect(await cut).not.toBe(200);
});

test('a store that does not close is given up after RELEASE_DEADLINE_MS, and that is logged', async () => {
  const store = { ...openMemoryStore(), close: () => new Promise<void>(() => {}) };
  const sleep = (ms: number, signal: AbortSignal) => (ms === RELEASE_DEADLINE_MS ? Promise.resolve() : realClock.sleep(ms, signal));
  const server = await startTestServer({ roles: 'session', logLevel: 'error' }, { store, sleep });
  await server.stop();
  expect(server.lines.err.join('\n')).toContain('a part did not stop cleanly');
});

test('two servers on one port-less configuration live side by side in one process', async () => {
  const [one, two] = [await started(), await started()];
  expect(one.port).not.toBe(two.port);
  await one.stop();
  expect((await fetch(new URL('healthz', two.url))).status).toBe(200);
});

test('a store that cannot be opened leaves nothing behind', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'qim-server-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const openStore = () => Promise.reject(new StartError('StoreUnusable', 'cannot open the store'));
  await expect(startTestServer({ data: folder }, { openStore })).rejects.toSatisfy(refusal('StoreUnusable', 'cannot open'));
});
