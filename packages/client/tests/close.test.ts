/** Whatever is under way when the client is closed ends at once, and so does whatever is asked of it later. */
import { fromBinary } from '@bufbuild/protobuf';
import { type Client, type ClientOptions, createClient, memoryStorage, type OpenConversation, QimClientError } from '@qim/client';
import { CloseCode } from '@qim/proto';
import { ClientFrameSchema } from '@qim/proto/schema';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ChatModel } from './support/chat-model.js';
import { FakeSocket } from './support/fake-socket.js';
import { type Method, methodsOf } from './support/model-methods.js';

type Answering = 'model' | 'nothing';

/** A server with more of everything than one page has. */
class ModelSocket extends FakeSocket {
  static methods: Record<string, Method>;
  answers: Answering = 'model';

  override send(data: Uint8Array): void {
    super.send(data);
    const { kind, id } = fromBinary(ClientFrameSchema, data);
    if (kind.case !== 'call' || this.answers === 'nothing') return;
    const { method, body } = kind.value;
    try {
      const answer = ModelSocket.methods[method]?.('alice', body) ?? new Uint8Array();
      queueMicrotask(() => this.frame({ case: 'reply', value: answer }, Number(id)));
    } catch {
      queueMicrotask(() => this.frame({ case: 'error', value: { code: 'not_found', reason: 'NOT_MEMBER', message: '' } }, Number(id)));
    }
  }

  static get current(): ModelSocket {
    return FakeSocket.last as ModelSocket;
  }
}

interface Scene {
  readonly client: Client;
  readonly open: OpenConversation;
}

/** Methods of T that answer later. */
type Later<T> = { [K in keyof T]: T[K] extends (...args: never[]) => Promise<unknown> ? K : never }[keyof T];

const ref = { conversationId: 'g_1', conversationSeq: 60, messageId: 'm60' };
const target = { conversationId: 'g_1' };

/** Without one of them it does not compile. */
const OF_CLIENT: Record<Later<Client>, (client: Client) => Promise<unknown>> = {
  logout: (client) => client.logout(),
  sendMessage: (client) => client.sendMessage({ target, content: 'x' }),
  editMessage: (client) => client.editMessage({ ...ref, content: 'x' }),
  recallMessage: (client) => client.recallMessage(ref),
  deleteMessage: (client) => client.deleteMessage(ref),
  setReaction: (client) => client.setReaction(ref, '👍', true),
  markRead: (client) => client.markRead('g_1', 1),
  markAllRead: (client) => client.markAllRead(),
  getTotals: (client) => client.getTotals(),
  readHistory: (client) => client.readHistory(target),
  clearHistory: (client) => client.clearHistory('g_1', 1),
  listConversations: (client) => client.listConversations(),
  getConversation: (client) => client.getConversation('g_1'),
  setConversationFlags: (client) => client.setConversationFlags('g_1', { pinned: true }),
  createGroup: (client) => client.createGroup({ title: 'x', memberIds: ['bob'] }),
  addMembers: (client) => client.addMembers('g_1', ['bob']),
  removeMember: (client) => client.removeMember('g_1', 'bob'),
  leaveGroup: (client) => client.leaveGroup('g_1'),
  setRole: (client) => client.setRole('g_1', 'bob', 'admin'),
  updateConversation: (client) => client.updateConversation('g_1', { title: 'x' }),
  listMembers: (client) => client.listMembers('g_1'),
  setProfile: (client) => client.setProfile({ displayName: 'x' }),
  getProfiles: (client) => client.getProfiles(['bob']),
  blockUser: (client) => client.blockUser('bob'),
  unblockUser: (client) => client.unblockUser('bob'),
  listBlocked: (client) => client.listBlocked(),
  reportMessage: (client) => client.reportMessage(ref),
};
const OF_LIST: Record<Later<Client['conversations']>, (client: Client) => Promise<unknown>> = {
  loadMore: ({ conversations }) => conversations.loadMore(),
};
const OF_OUTBOX: Record<Later<Client['outbox']>, (client: Client) => Promise<unknown>> = {
  retry: ({ outbox }) => outbox.retry('refused'),
};
const OF_OPEN: Record<Later<OpenConversation>, (open: OpenConversation) => Promise<unknown>> = {
  loadOlder: (open) => open.loadOlder(),
  jumpTo: (open) => open.jumpTo(1),
  loadNewer: (open) => open.loadNewer(),
  toLatest: (open) => open.toLatest(),
};
const CALLS: Record<string, (scene: Scene) => Promise<unknown>> = {
  ...wrap({ ...OF_CLIENT, ...OF_LIST, ...OF_OUTBOX }, ({ client }) => client),
  ...wrap(OF_OPEN, ({ open }) => open),
};

function wrap<T>(calls: Record<string, (of: T) => Promise<unknown>>, of: (scene: Scene) => T) {
  return Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, (scene: Scene) => call(of(scene))]));
}

interface Moment {
  /** Before the call. */
  readonly before: (scene: Scene) => Promise<void>;
  /** Between the call and the close; absent: the client is closed by then. */
  readonly meanwhile?: () => Promise<void>;
  readonly options?: Partial<ClientOptions>;
}

const account = { userId: 'alice' };
const nothing = async (): Promise<void> => {};
const connect = async ({ client }: Scene): Promise<void> => {
  client.connect();
  await settled();
};
const goOnline = async (scene: Scene): Promise<void> => {
  await connect(scene);
  ModelSocket.current.welcome();
  await vi.advanceTimersByTimeAsync(1_000);
  scene.client.sendMessage({ target: { conversationId: 'g_refused' }, content: 'x', clientMessageId: 'refused' }).catch(() => {});
  await vi.advanceTimersByTimeAsync(1_000);
  await scene.open.jumpTo(100);
  expect(scene.open.snapshot()).toMatchObject({ status: 'ready', hasOlder: true, hasNewer: true });
  expect(scene.client.conversations.snapshot().hasMore).toBe(true);
  expect(scene.client.outbox.snapshot()).toMatchObject([{ status: 'failed' }]);
  ModelSocket.current.answers = 'nothing';
};
/** Every call that was sent last is told to come back much later. */
const refuse = async (): Promise<void> => {
  const { callIds } = ModelSocket.current;
  const value = { code: 'unavailable', reason: 'STORE_UNAVAILABLE', message: '', retryAfterMs: 5_000 };
  for (const id of callIds.slice(-5)) ModelSocket.current.frame({ case: 'error', value }, id);
  await settled();
};
const stopIt = async (): Promise<void> => {
  ModelSocket.current.end(CloseCode.MalformedFrame);
  await settled();
};
const closed = async ({ client }: Scene): Promise<void> => {
  client.close();
  await settled();
};
const both = (first: Moment['before'], second: (scene: Scene) => Promise<void>) => async (scene: Scene) => {
  await first(scene);
  await second(scene);
};

const MOMENTS: Record<string, Moment> = {
  'before it connects': { before: nothing, meanwhile: nothing },
  'before it connects, and it is known whose it is': { before: nothing, meanwhile: nothing, options: { account } },
  'while the token is on its way': { before: connect, meanwhile: nothing, options: { token: () => new Promise(() => {}) } },
  'while the token is on its way, and it is known whose it is': {
    before: connect,
    meanwhile: nothing,
    options: { account, token: () => new Promise(() => {}) },
  },
  'while the socket connects': {
    before: both(connect, async () => {
      ModelSocket.current.readyState = 0;
    }),
    meanwhile: nothing,
  },
  'during the handshake': { before: both(connect, async () => ModelSocket.current.open()), meanwhile: nothing, options: { account } },
  'once it was sent': { before: goOnline, meanwhile: nothing },
  'after a refusal that may pass': { before: goOnline, meanwhile: refuse },
  'as the refusal comes': { before: goOnline, meanwhile: async () => void refuse() },
  'once the link closes': {
    before: both(goOnline, async () => {
      ModelSocket.current.readyState = 2;
    }),
    meanwhile: nothing,
  },
  'once the link closes under it': {
    before: goOnline,
    meanwhile: async () => {
      ModelSocket.current.readyState = 2;
    },
  },
  'when the link was lost under it': {
    before: goOnline,
    meanwhile: async () => {
      ModelSocket.current.end(1006);
      await settled();
    },
  },
  'while it waits to connect again': { before: both(goOnline, async () => ModelSocket.current.end(1006)), meanwhile: nothing },
  'after the server stopped it': { before: both(goOnline, stopIt), meanwhile: nothing },
  'after it, never connected': { before: closed },
  'after it, never connected, and it is known whose it is': { before: closed, options: { account } },
  'after it, once online': { before: both(goOnline, closed) },
  'after it, though told to connect again': {
    before: both(both(goOnline, closed), async (scene) => {
      await connect(scene);
      expect(scene.client.connection.snapshot().status).toBe('idle');
    }),
  },
};

beforeEach(() => {
  vi.useFakeTimers();
  FakeSocket.made = [];
  const chat = new ChatModel();
  for (let n = 1; n <= 60; n += 1) chat.add(`g_${n}`, 'alice', 'bob');
  for (let n = 1; n <= 200; n += 1) chat.commit('g_1', 'bob');
  chat.add('g_refused', 'bob');
  ModelSocket.methods = methodsOf(chat, () => {});
});
afterEach(() => vi.useRealTimers());

/** Lets everything run that no timer holds up. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 200; turns += 1) await Promise.resolve();
}

function scene(options: Partial<ClientOptions> = {}): Scene {
  const client = createClient({
    url: 'http://chat.test',
    token: () => 'token',
    WebSocket: ModelSocket,
    storage: memoryStorage(),
    random: () => 0,
    ...options,
  });
  return { client, open: client.openConversation('g_1') };
}

/** How the call ended: 'pending', 'answered', or the error. */
async function endOf(call: (scene: Scene) => Promise<unknown>, { before, meanwhile, options }: Moment): Promise<unknown> {
  const one = scene(options);
  await before(one);
  let end: unknown = 'pending';
  call(one).then(
    () => (end = 'answered'),
    (error: unknown) => (end = error),
  );
  if (meanwhile !== undefined) {
    await settled();
    await meanwhile();
    one.client.close();
  }
  await settled();
  return end;
}

describe.each(Object.entries(MOMENTS))('closed: %s', (_, moment) => {
  test('every call ends at once, with a typed error if it was not answered', async () => {
    const ends: Record<string, unknown> = {};
    for (const [name, call] of Object.entries(CALLS)) ends[name] = await endOf(call, moment);
    const bad = Object.entries(ends).filter(([, end]) => end === 'pending' || !(end === 'answered' || end instanceof QimClientError));
    expect(bad).toEqual([]);
  });
});

test('closed: what was sent may have taken effect, what was not sent has none', async () => {
  const { sent, unsent } = { sent: MOMENTS['once it was sent'], unsent: MOMENTS['during the handshake'] };
  for (const call of [CALLS.removeMember, CALLS.getProfiles, CALLS.sendMessage]) {
    if (sent === undefined || unsent === undefined || call === undefined) throw new Error('renamed');
    expect(await endOf(call, sent)).toMatchObject({ reason: 'CLIENT_CLOSED', outcomeUnknown: true });
    expect(await endOf(call, unsent)).toMatchObject({ reason: 'CLIENT_CLOSED', outcomeUnknown: false });
  }
});
