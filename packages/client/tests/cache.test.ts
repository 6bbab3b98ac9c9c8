/** What a client keeps from one start to the next, over one storage and the frame server. */

import { fromBinary } from '@bufbuild/protobuf';
import { type AccountStorage, type ClientOptions, type ClientStorage, memoryStorage } from '@qim/client';
import {
  CLIENT_CACHE_DELAY_MS,
  CLIENT_CACHE_MESSAGES_MAX,
  CLIENT_CACHE_READ_MS_MAX,
  CLIENT_CACHE_REMOVE_MS_MAX,
  CLIENT_CACHE_WINDOWS_MAX,
} from '@qim/proto';
import { CatchUpRequestSchema, MarkReadRequestSchema, SendMessageRequestSchema } from '@qim/proto/schema';
import { describe, expect, test, vi } from 'vitest';
import { environmentFrom } from '../src/environment.js';
import type { MessageWindow } from '../src/message-window.js';
import { Cache } from '../src/storage/cache.js';
import { accountName } from '../src/url.js';
import { FakeSocket } from './support/fake-socket.js';
import type { FrameServer } from './support/frame-server.js';
import { message } from './support/messages.js';
import { makeClient, online, startServer, until } from './support/setup.js';

const account = { userId: 'alice' };

/** A schedule on which nothing waits long: what is written a moment later is written in a moment. */
const { schedule } = environmentFrom({ WebSocket: FakeSocket });
const quick: Pick<ClientOptions, 'schedule'> = { schedule: (ms, run) => schedule(ms === CLIENT_CACHE_DELAY_MS ? 1 : ms, run) };

async function kept(storage: ClientStorage, server: FrameServer, user = 'alice'): Promise<AccountStorage> {
  return storage.open(accountName(server.url, { userId: user }));
}

async function written(storage: ClientStorage, server: FrameServer, key: string, holds: (value: unknown) => boolean): Promise<void> {
  const opened = await kept(storage, server);
  await vi.waitFor(async () => expect(holds(await opened.get(key))).toBe(true), { timeout: 60_000 });
}

async function serverWithChat(count: number): Promise<FrameServer> {
  const server = await startServer();
  server.chat.add('g_1', 'alice', 'bob');
  for (let n = 0; n < count; n += 1) server.chat.commit('g_1', 'bob', { text: `n${n}` });
  return server;
}

describe('a start without a link', () => {
  test('shows the list and the messages of before, says that they are old, and corrects them once there is one', async () => {
    const [server, storage] = [await serverWithChat(60), memoryStorage()];
    const before = await online(server, 'alice', { account, storage, ...quick });
    const shown = before.openConversation('g_1');
    await until(() => shown.snapshot().messages.length === 50);
    await written(storage, server, 'window/g_1', (held) => held !== undefined);
    await written(storage, server, 'list', (held) => Array.isArray(held));
    before.close();
    await server.stop();

    const now = makeClient(server, 'alice', { account, storage });
    const open = now.openConversation('g_1');
    await until(() => open.snapshot().messages.length === 50 && now.conversations.snapshot().conversations.length === 1);
    expect([open.snapshot().stale, now.conversations.snapshot().stale, open.snapshot().status]).toEqual([true, true, 'ready']);
    server.chat.recall('g_1', 60);
    server.chat.commit('g_1', 'bob', { text: 'new' });
    server.calls.length = 0;
    await server.start();
    now.connect();
    await until(() => open.snapshot().messages.length === 51 && !open.snapshot().stale && !now.conversations.snapshot().stale);
    expect(open.snapshot().messages.at(-2)?.status).toBe('recalled');
    // It went on from what it held, and read nothing of it again.
    const asked = server.callsOf('CatchUp').map(({ body }) => fromBinary(CatchUpRequestSchema, body).afterSeq);
    expect(asked[0]).toBe(60n);
  });

  test('keeps no recalled text once the recall is known', async () => {
    const [server, storage] = [await serverWithChat(2), memoryStorage()];
    const alice = await online(server, 'alice', { account, storage, ...quick });
    alice.openConversation('g_1');
    await written(storage, server, 'window/g_1', (held) => JSON.stringify(held)?.includes('n1') === true);
    await alice.recallMessage({
      conversationId: 'g_1',
      conversationSeq: 2,
      messageId: server.chat.get('g_1').messages[1]?.messageId ?? '',
    });
    await written(storage, server, 'window/g_1', (held) => !JSON.stringify(held).includes('n1'));
  });

  test('begins anew when what was kept is of another epoch', async () => {
    const [server, storage] = [await serverWithChat(5), memoryStorage()];
    const before = await online(server, 'alice', { account, storage, ...quick });
    before.openConversation('g_1');
    await written(storage, server, 'window/g_1', (held) => held !== undefined);
    before.close();
    server.chat.lose('g_1', 2);
    server.chat.commit('g_1', 'bob', { text: 'another fourth' });
    const now = await online(server, 'alice', { account, storage });
    const open = now.openConversation('g_1');
    await until(() => open.snapshot().messages.length === 4 && !open.snapshot().stale);
    expect(open.snapshot().messages.map(({ conversationSeq }) => conversationSeq)).toEqual([1, 2, 3, 4]);
  });
});

describe('unsent messages', () => {
  test('are there after a restart, go in their order under their ids before later ones, and are forgotten once acknowledged', async () => {
    const [server, storage] = [await serverWithChat(0), memoryStorage()];
    const before = makeClient(server, 'alice', { account, storage });
    const texts = ['one', 'two', 'three'];
    for (const content of texts) before.sendMessage({ target: { conversationId: 'g_1' }, content }).catch(() => {});
    await until(() => before.outbox.snapshot().length === 3);
    const opened = await kept(storage, server);
    await vi.waitFor(async () => expect((await opened.list('outbox/')).length).toBe(3));
    const ids = before.outbox.snapshot().map(({ clientMessageId }) => clientMessageId);
    before.close();

    const now = makeClient(server, 'alice', { account, storage });
    const fourth = now.sendMessage({ target: { conversationId: 'g_1' }, content: 'four' });
    await until(() => now.outbox.snapshot().length === 4);
    expect(
      now.outbox
        .snapshot()
        .map(({ status, clientMessageId }) => [status, clientMessageId])
        .slice(0, 3),
    ).toEqual(ids.map((id) => ['sending', id]));
    now.connect();
    await fourth;
    expect(server.chat.get('g_1').messages.map(({ body }) => body.value)).toEqual([...texts, 'four']);
    expect(
      server
        .callsOf('SendMessage')
        .map(({ body }) => fromBinary(SendMessageRequestSchema, body).clientMessageId)
        .slice(0, 3),
    ).toEqual(ids);
    await vi.waitFor(async () => expect(await opened.list('outbox/')).toEqual([]));
  });

  test('that arrived before the restart end in one message', async () => {
    const [server, storage] = [await serverWithChat(0), memoryStorage()];
    server.fate = ({ method }) => (method.endsWith('SendMessage') ? 'loseAnswer' : 'answer');
    const before = await online(server, 'alice', { account, storage });
    before.sendMessage({ target: { conversationId: 'g_1' }, content: 'once' }).catch(() => {});
    await until(() => server.chat.get('g_1').messages.length === 1);
    before.close();
    server.fate = () => 'answer';
    const now = await online(server, 'alice', { account, storage });
    await until(() => now.outbox.snapshot().length === 0 && server.callsOf('SendMessage').length === 2);
    expect(server.chat.get('g_1').messages.length).toBe(1);
  });

  test('that were refused stay refused after a restart, and can be dropped for good', async () => {
    const [server, storage] = [await serverWithChat(0), memoryStorage()];
    server.fate = ({ method }) => (method.endsWith('SendMessage') ? { code: 'permission_denied', reason: 'FORBIDDEN' } : 'answer');
    const before = await online(server, 'alice', { account, storage });
    await expect(before.sendMessage({ target: { conversationId: 'g_1' }, content: 'no' })).rejects.toMatchObject({ reason: 'FORBIDDEN' });
    before.close();
    const now = await online(server, 'alice', { account, storage });
    await until(() => now.outbox.snapshot().length === 1);
    expect(now.outbox.snapshot()[0]).toMatchObject({ status: 'failed', error: { reason: 'FORBIDDEN', code: 'permission_denied' } });
    now.outbox.drop(now.outbox.snapshot()[0]?.clientMessageId ?? '');
    const opened = await kept(storage, server);
    await vi.waitFor(async () => expect(await opened.list('outbox/')).toEqual([]));
  });

  test('of another user never go', async () => {
    const [server, storage] = [await serverWithChat(0), memoryStorage()];
    const alice = makeClient(server, 'alice', { account, storage });
    alice.sendMessage({ target: { conversationId: 'g_1' }, content: 'mine' }).catch(() => {});
    const opened = await kept(storage, server);
    await vi.waitFor(async () => expect((await opened.list('outbox/')).length).toBe(1));
    alice.close();
    const bob = await online(server, 'bob', { account: { userId: 'bob' }, storage });
    await bob.sendMessage({ target: { conversationId: 'g_1' }, content: 'of bob' });
    expect(server.chat.get('g_1').messages.map(({ senderUserId }) => senderUserId)).toEqual(['bob']);
    expect(bob.outbox.snapshot()).toEqual([]);
  });
});

test('logging out removes everything of this user, and nothing of another', async () => {
  const [server, storage] = [await serverWithChat(3), memoryStorage()];
  for (const userId of ['alice', 'bob']) {
    const client = await online(server, userId, { account: { userId }, storage, ...quick });
    client.openConversation('g_1');
    const opened = await kept(storage, server, userId);
    await vi.waitFor(async () => expect((await opened.list('window/')).length).toBe(1));
    if (userId === 'alice') await client.logout();
  }
  expect(await (await kept(storage, server)).list('')).toEqual([]);
  expect((await (await kept(storage, server, 'bob')).list('window/')).length).toBe(1);
});

test('logging out removes what is kept, whether or not the client was closed before', async () => {
  const [server, storage] = [await serverWithChat(3), memoryStorage()];
  const onlyOpen = { ...storage, open: async (name: string) => endingWithClose(await storage.open(name)) };
  const alice = await online(server, 'alice', { account, storage: onlyOpen, ...quick });
  await written(storage, server, 'list', (held) => Array.isArray(held));
  alice.close();
  await new Promise(setImmediate);
  await alice.logout();
  expect(await (await kept(storage, server)).list('')).toEqual([]);
});

test('server, tenant and user make the name, and no two of them make the same', () => {
  const names = [
    accountName('http://a.test', { userId: 'x' }),
    accountName('http://a.test', { userId: 'x', tenant: 1 }),
    accountName('http://b.test', { userId: 'x' }),
    accountName('http://a.test/x', { userId: '' }),
    accountName('http://a.test', { userId: '0/x' }),
  ];
  expect(new Set(names).size).toBe(names.length);
  expect(accountName('http://a.test/', { userId: 'x', tenant: 0 })).toBe(names[0]);
});

describe('read marks that were not sent', () => {
  test('are sent after a restart, the greatest of each conversation, and forgotten once answered', async () => {
    const [server, storage] = [await serverWithChat(9), memoryStorage()];
    const before = await online(server, 'alice', { account, storage, ...quick });
    const open = before.openConversation('g_1');
    await until(() => open.snapshot().messages.length === 9);
    await written(storage, server, 'list', (held) => Array.isArray(held));
    await server.stop();
    open.markRead(4);
    open.markRead(6);
    open.markRead(5);
    await written(storage, server, 'marks/', (held) => JSON.stringify(held) === '[["g_1",6]]');
    before.close();
    await server.start();

    await online(server, 'alice', { account, storage, ...quick });
    await until(() => server.callsOf('MarkRead').length > 0);
    expect(server.callsOf('MarkRead').map(({ body }) => fromBinary(MarkReadRequestSchema, body).readConversationSeq)).toEqual([6n]);
    await written(storage, server, 'marks/', (held) => held === undefined);
  });

  test('of several tabs are one, and the keys of others go', async () => {
    const storage = memoryStorage();
    const opened = await storage.open('x');
    const left = new Map<string, unknown>([
      [
        'marks/one',
        [
          ['g_1', 3],
          ['g_2', 8],
        ],
      ],
      ['marks/two', [['g_1', 5]]],
      ['marks/three', 'not what this version writes'],
    ]);
    await opened.write(left);
    const { marks } = await cacheOver(storage).open('x');
    expect([...marks]).toEqual([
      ['g_1', 5],
      ['g_2', 8],
    ]);
    expect(await opened.list('marks/')).toEqual([['marks/', [...marks]]]);
  });

  test('cost no write while the server answers in time', async () => {
    vi.useFakeTimers();
    try {
      const storage = memoryStorage();
      const opened = await storage.open('x');
      const marks = new Map([['g_1', 1]]);
      const cache = cacheOver(storage, marks);
      await cache.open('x');
      cache.marksChanged();
      marks.clear();
      const write = vi.spyOn(opened, 'write');
      cache.marksChanged();
      await vi.advanceTimersByTimeAsync(CLIENT_CACHE_DELAY_MS);
      expect(await opened.list('marks/')).toEqual([]);
      expect(write).not.toHaveBeenCalled();
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a storage that fails or hangs', () => {
  test.each<[string, ClientStorage]>([
    ['cannot be opened', { open: () => Promise.reject(new Error('no')) }],
    ['cannot be read or written', { open: async () => broken(() => Promise.reject(new Error('no'))) }],
  ])('%s: everything works without it', async (_, storage) => {
    const server = await serverWithChat(3);
    const alice = await online(server, 'alice', { account, storage });
    const open = alice.openConversation('g_1');
    await alice.sendMessage({ target: { conversationId: 'g_1' }, content: 'sent' });
    await until(() => open.snapshot().messages.length === 4);
    await expect(alice.logout()).rejects.toMatchObject({ reason: 'STORAGE_FAILED', cause: { message: 'no' } });
  });

  test('is waited for at logout no longer than the bound, and is told', async () => {
    vi.useFakeTimers();
    try {
      const hung = { ...broken(() => new Promise(() => {})), get: async () => undefined, list: async () => [] };
      const cache = cacheOver({ open: async () => hung });
      await cache.open('x');
      let end: unknown = 'pending';
      cache.destroy().catch((error: unknown) => (end = error));
      await vi.advanceTimersByTimeAsync(CLIENT_CACHE_REMOVE_MS_MAX - 1);
      expect(end).toBe('pending');
      await vi.advanceTimersByTimeAsync(1);
      expect(end).toMatchObject({ reason: 'STORAGE_FAILED' });
    } finally {
      vi.useRealTimers();
    }
  });

  test('is waited for no longer than the bound', async () => {
    vi.useFakeTimers();
    try {
      const cache = cacheOver({ open: () => new Promise(() => {}) });
      const opening = cache.open('x');
      await vi.advanceTimersByTimeAsync(CLIENT_CACHE_READ_MS_MAX);
      expect(await opening).toEqual({ list: [], outbox: [], marks: new Map() });
    } finally {
      vi.useRealTimers();
    }
  });
});

test('holds the newest messages of the conversations used last, up to both bounds', async () => {
  vi.useFakeTimers();
  try {
    const storage = memoryStorage();
    const opened = await storage.open('x');
    const cache = cacheOver(storage);
    await cache.open('x');
    for (let n = 0; n <= CLIENT_CACHE_WINDOWS_MAX; n += 1) {
      cache.windowChanged(`g_${n}`, windowOf(CLIENT_CACHE_MESSAGES_MAX + 1));
      await vi.advanceTimersByTimeAsync(CLIENT_CACHE_DELAY_MS);
    }
    const held = await opened.list('window/');
    expect(held.length).toBe(CLIENT_CACHE_WINDOWS_MAX);
    expect(await opened.get('window/g_0')).toBeUndefined();
    const first = held[0]?.[1] as { messages: unknown[]; hasOlder: boolean };
    expect([first.messages.length, first.hasOlder]).toEqual([CLIENT_CACHE_MESSAGES_MAX, true]);
  } finally {
    vi.useRealTimers();
  }
});

function cacheOver(storage: ClientStorage, marks: ReadonlyMap<string, number> = new Map()): Cache {
  const environment = environmentFrom({ WebSocket: FakeSocket });
  return new Cache({ storage, environment, list: () => undefined, marks: () => marks, left: () => {}, loggedOut: () => {} });
}

function windowOf(count: number): MessageWindow {
  const messages = Array.from({ length: count }, (_, n) => message(n + 1));
  const held = (max: number) => ({ epoch: 1, cursor: 0, messages: messages.slice(-max), hasOlder: messages.length > max });
  return { held, state: { snapshot: () => ({ status: 'ready' }) } } as unknown as MessageWindow;
}

/** As IndexedDB: of no use once it was closed. */
function endingWithClose(opened: AccountStorage): AccountStorage {
  let closed = false;
  const use =
    <A extends unknown[], R>(run: (...args: A) => Promise<R>) =>
    (...args: A) =>
      closed ? Promise.reject(new Error('it is closed')) : run(...args);
  const close = (): void => {
    closed = true;
  };
  return { get: use(opened.get), list: use(opened.list), write: use(opened.write), destroy: use(opened.destroy), close };
}

function broken(fail: () => Promise<never>): AccountStorage {
  return { get: fail, list: fail, write: fail, destroy: fail, close: () => {} };
}
