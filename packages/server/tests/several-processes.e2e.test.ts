/** Several `qim` processes on one Redis, as people run them: events reach every device, and a process that dies is replaced. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { COMMIT_PARTITIONS_DEFAULT, OUTBOX_LEASE_MS_MIN } from '@qim/proto';
import { type RedisServer, startRedis } from '@qim/store/testing';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { killAll, type Process, startQim } from './processes.js';
import { call, temporaryFolder } from './running.js';

const LEASE = `${OUTBOX_LEASE_MS_MIN / 1_000}s`;
/** A takeover comes a second or two after the lease; the rest is for a machine that has more to do. */
const PATIENCE = { timeout: 90_000, interval: 50 };

let cwd: string;
let remove: () => Promise<void>;
let redis: RedisServer;
beforeEach(async () => {
  ({ folder: cwd, remove } = await temporaryFolder());
  redis = await startRedis();
});
afterEach(async () => {
  killAll();
  await redis.stop();
  await remove();
});
afterAll(killAll);

/** They share the folder, and so the secret. */
function started(...args: string[]): Process {
  return startQim(['serve', '--dev', '--port', '0', '--data', cwd, '--store', redis.url, '--push-lease', LEASE, ...args], { cwd });
}

async function tokenOf(url: string, user: string): Promise<string> {
  const response = await call(url, 'dev/login', undefined, { user });
  return ((await response.json()) as { token: string }).token;
}

async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(new URL('/metrics', url))).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
}

const partitions = (url: string) => metric(url, 'qim_push_partitions');

interface Event {
  readonly messageCommitted?: {
    readonly message: { readonly conversationId: string; readonly conversationSeq: string; readonly text?: string };
  };
  readonly readAdvanced?: { readonly readConversationSeq: string };
  readonly resyncNeeded?: object;
}

interface Device {
  readonly events: Event[];
  /** Texts of one conversation in the order in which they came first: at least once is what the wire promises. */
  texts(conversationId: string): string[];
  close(): void;
}

/** Resolves when it was welcomed: from then on it gets everything. */
async function device(url: string, token: string, name: string): Promise<Device> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}ws`, 'qim.v1+json');
  const events: Event[] = [];
  const welcome = new Promise<void>((resolve, reject) => {
    socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as { welcome?: object; event?: Event; error?: object };
      if (frame.event !== undefined) events.push(frame.event);
      if (frame.welcome !== undefined) resolve();
      if (frame.error !== undefined) reject(new Error(JSON.stringify(frame.error)));
    });
    socket.on('error', reject);
  });
  await once(socket, 'open');
  socket.send(JSON.stringify({ id: 0, hello: { token, device: name } }));
  await welcome;
  socket.removeAllListeners('error').on('error', () => {});
  return {
    events,
    texts: (conversationId) => [...new Set(textsOf(events, conversationId))],
    close: () => socket.terminate(),
  };
}

function textsOf(events: readonly Event[], conversationId: string): string[] {
  return events.flatMap(({ messageCommitted }) =>
    messageCommitted?.message.conversationId === conversationId && messageCommitted.message.text ? [messageCommitted.message.text] : [],
  );
}

async function post<T>(url: string, token: string, method: string, body: object): Promise<T> {
  const response = await call(url, `qim.v1.${method}`, token, body);
  expect(response.status, method).toBe(200);
  return (await response.json()) as T;
}

async function group(url: string, token: string, memberIds: readonly string[]): Promise<string> {
  const body = { title: 'room', memberIds };
  const answer = await post<{ conversation: { conversationId: string } }>(url, token, 'ConversationService/CreateGroup', body);
  return answer.conversation.conversationId;
}

const say = (url: string, token: string, conversationId: string, text: string) =>
  post(url, token, 'MessageService/SendMessage', { conversationId, clientMessageId: randomUUID(), type: 'MESSAGE_TYPE_TEXT', text });

async function historyOf(url: string, token: string, conversationId: string): Promise<string[]> {
  const texts: string[] = [];
  for (let afterSeq = '0'; ; ) {
    const body = { conversationId, afterSeq, limit: 200 };
    const page = await post<{ messages: { text?: string; conversationSeq: string }[]; hasMore: boolean }>(
      url,
      token,
      'SessionService/ReadHistory',
      body,
    );
    texts.push(...page.messages.flatMap(({ text }) => text || []));
    afterSeq = page.messages.at(-1)?.conversationSeq ?? afterSeq;
    if (!page.hasMore) return texts;
  }
}

test('a lost connection and a killed process cost nobody anything: all is heard, in order, at least once', async () => {
  const [one, two] = [started(), started()];
  const [here, there] = [await one.ready, await two.ready];
  await vi.waitFor(async () => {
    expect([await partitions(here), await partitions(there)]).toEqual([COMMIT_PARTITIONS_DEFAULT / 2, COMMIT_PARTITIONS_DEFAULT / 2]);
  }, PATIENCE);

  const [alice, bob] = [await tokenOf(here, 'alice'), await tokenOf(here, 'bob')];
  // Enough of them that some are delivered by each process.
  const rooms: string[] = [];
  for (let n = 0; n < 12; n += 1) rooms.push(await group(here, alice, ['bob']));
  const devices = [await device(here, bob, 'phone'), await device(there, bob, 'pad'), await device(here, alice, 'desk')];
  // A connection that was cut ends in resyncNeeded on every socket, and what comes after it arrives.
  execFileSync('redis-cli', ['-p', String(redis.port), 'CLIENT', 'KILL', 'TYPE', 'pubsub']);
  for (const each of devices) await vi.waitFor(() => expect(each.events).toContainEqual({ resyncNeeded: {} }), PATIENCE);
  for (const url of [here, there]) expect(await metric(url, 'qim_bus_interruptions_total')).toBe(1);

  const said: string[] = [];
  const sayInAll = async (text: string): Promise<void> => {
    said.push(text);
    await Promise.all(rooms.map((room) => say(here, alice, room, text)));
  };
  for (let n = 0; n < 5; n += 1) await sayInAll(`before ${n}`);
  for (const each of devices) {
    for (const room of rooms) await vi.waitFor(() => expect(each.texts(room)).toEqual(said), PATIENCE);
  }

  two.child.kill('SIGKILL');
  await two.ended;
  for (let n = 0; n < 5; n += 1) await sayInAll(`after ${n}`);
  for (const each of [devices[0], devices[2]]) {
    for (const room of rooms) await vi.waitFor(() => expect(each?.texts(room)).toEqual(said), PATIENCE);
  }
  expect(await partitions(here)).toBe(COMMIT_PARTITIONS_DEFAULT);
  // The device of the one that died finds the other, and has the rest from history.
  const back = await device(here, bob, 'pad');
  for (const room of rooms) expect(await historyOf(here, bob, room)).toEqual(said);
  await sayInAll('again');
  for (const room of rooms) await vi.waitFor(() => expect(back.texts(room)).toEqual(['again']), PATIENCE);
});

test('split by roles: the one that delivers reaches the devices of those that serve, which deliver nothing themselves', async () => {
  const [serving, delivering] = [started('--roles', 'gateway'), started('--roles', 'push')];
  const [edge, worker] = [await serving.ready, await delivering.ready];
  const [alice, bob] = [await tokenOf(edge, 'alice'), await tokenOf(edge, 'bob')];
  const phone = await device(edge, bob, 'phone');
  const room = await group(edge, alice, ['bob']);
  await say(edge, alice, room, 'hello');
  await vi.waitFor(() => expect(phone.texts(room)).toEqual(['hello']), PATIENCE);
  expect(await partitions(worker)).toBe(COMMIT_PARTITIONS_DEFAULT);
  expect(await partitions(edge)).toBe(0);
  // The one that delivers has these three doors, and no other.
  for (const path of ['/healthz', '/readyz', '/metrics']) expect((await fetch(new URL(path, worker))).status, path).toBe(200);
  expect((await fetch(worker)).status).toBe(404);
  const refused = await call(worker, 'qim.v1.SessionService/ListConversations', alice, {});
  expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([404, 'unimplemented']);
  // A read mark that one process takes reaches the devices on another.
  const other = await started('--roles', 'gateway').ready;
  const pad = await device(other, bob, 'pad');
  await post(edge, bob, 'SessionService/MarkRead', { conversationId: room, readConversationSeq: '2' });
  for (const each of [phone, pad]) {
    await vi.waitFor(
      () => expect(each.events).toContainEqual({ readAdvanced: expect.objectContaining({ readConversationSeq: '2' }) }),
      PATIENCE,
    );
  }
  // What is said while nobody delivers is delivered by the next one.
  delivering.child.kill('SIGTERM');
  expect(await delivering.ended).toBe(0);
  await say(edge, alice, room, 'kept');
  const next = started('--roles', 'push');
  await next.ready;
  for (const each of [phone, pad]) await vi.waitFor(() => expect(each.texts(room)).toContain('kept'), PATIENCE);
});
