import type { DescMessage } from '@bufbuild/protobuf';
import { UNBUILT_METHODS } from '@qim/proto';
import {
  AdminService,
  ConversationService,
  MessageService,
  ModerationService,
  ProfileService,
  PushService,
  SessionService,
} from '@qim/proto/schema';
import type { Store } from '@qim/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { methodName } from '../src/method.js';
import { BROWSER, badCase, FIELD_CASES, type FieldCase } from './support/field-cases.js';
import { call, type Json, type JsonObject } from './support/http.js';
import { startServer, type TestServer } from './support/server.js';
import { JsonSocket } from './support/socket.js';

let server: TestServer;
let socket: JsonSocket;
let admin: JsonSocket;
/** What was asked of the store that changes it. */
let writes = 0;
let n = 0;
let group = '';
/** Alice's own messages in the group, for edits. */
let textRef: JsonObject = {};
let fileRef: JsonObject = {};

function counting<T extends object>(target: T, names: readonly (keyof T)[]): T {
  return new Proxy(target, {
    get(real, name) {
      const value: unknown = Reflect.get(real, name);
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]) => {
        const result: unknown = await (value as (...given: unknown[]) => unknown).apply(real, args);
        // What was refused wrote nothing: the store's own suites prove that.
        if (names.includes(name as keyof T)) writes++;
        return result;
      };
    },
  });
}

function watched(store: Store): Store {
  const messages = counting(store.messages, ['commit', 'amend', 'react']);
  const directory = counting(store.directory, ['raiseRead', 'setFlags', 'touch', 'join', 'leave', 'groupForRequest']);
  const users = counting(store.users, ['setProfile', 'addWebPush']);
  return { ...store, messages, directory, users };
}

beforeAll(async () => {
  server = await startServer({ store: watched, options: () => ({ limits: { pingIntervalMs: 2 ** 31 - 1 } }) });
  // With a device, so that no event of what it sends comes back.
  socket = await JsonSocket.signedIn(server.url, await server.token('alice', { device: 'test' }));
  admin = await JsonSocket.signedIn(server.url, await server.token('backend', { admin: true, device: 'test' }));
  const created = await call(server.url, 'ConversationService/CreateGroup', await server.token('carol'), { memberIds: ['alice', 'bob'] });
  group = created.body.conversation.conversationId;
  textRef = await sent({ type: 'MESSAGE_TYPE_TEXT', text: 'hi' });
  fileRef = await sent({ type: 'MESSAGE_TYPE_FILE', content: { contentType: 'a/b', data: '' } });
});

afterAll(() => server.close());

beforeEach(() => {
  writes = 0;
});

async function sent(body: JsonObject): Promise<JsonObject> {
  const { reply } = await ask(
    'MessageService/SendMessage',
    { path: 'mentionAll', good: [], bad: [], beside: { text: undefined, ...body } },
    false,
  );
  const { conversationId, conversationSeq, messageId } = reply.message;
  return { conversationId, conversationSeq, messageId };
}

/** What a good call of the method says. */
function bodyOf(method: string, path: string): JsonObject {
  switch (method) {
    case 'AdminService/SendMessage':
    case 'MessageService/SendMessage':
      return { conversationId: group, clientMessageId: `c${n++}`, type: 'MESSAGE_TYPE_TEXT', text: 'hi' };
    case 'MessageService/EditMessage':
      return path.startsWith('content') ? fileRef : { ...textRef, text: 'hi' };
    case 'MessageService/SetReaction':
      return { ...textRef, emoji: '+' };
    case 'MessageService/RecallMessage':
    case 'MessageService/DeleteMessage':
      return textRef;
    case 'ConversationService/AddMembers':
      return { conversationId: group, memberIds: ['dan'] };
    case 'ConversationService/RemoveMember':
      return { conversationId: group, userId: 'nobody' };
    case 'ConversationService/SetRole':
      return { conversationId: group, userId: 'nobody', role: 'ROLE_ADMIN' };
    case 'AdminService/CreateConversation':
      return { conversationId: `made-${n++}`, ownerUserId: 'alice' };
    case 'AdminService/MintToken':
      return { userId: 'alice' };
    case 'AdminService/SetProfile':
    case 'AdminService/ListConversationsOf':
      return { userId: 'alice' };
    case 'AdminService/SuspendUser':
    case 'AdminService/DeleteUser':
      return { userId: 'somebody else' };
    case 'ModerationService/ReportMessage':
      return textRef;
    case 'PushService/RegisterWebPush':
      return BROWSER;
    case 'ProfileService/SetProfile':
    case 'ProfileService/GetProfiles':
    case 'PushService/GetWebPushKey':
    case 'PushService/UnregisterWebPush':
    case 'ModerationService/BlockUser':
    case 'ModerationService/UnblockUser':
    case 'ModerationService/ListBlocked':
    case 'AdminService/ListReports':
    case 'AdminService/GetLimits':
    case 'AdminService/GetStats':
    case 'SessionService/ListConversations':
    case 'ConversationService/CreateGroup':
      return {};
    default:
      return { conversationId: group };
  }
}

function withField(body: JsonObject, path: readonly string[], value: Json): JsonObject {
  const [first = '', ...rest] = path;
  return { ...body, [first]: rest.length === 0 ? value : withField((body[first] ?? {}) as JsonObject, rest, value) };
}

async function ask(method: string, { path, beside = {} }: FieldCase, value: Json): Promise<JsonObject> {
  const by = method.startsWith('AdminService/') ? admin : socket;
  const id = 1_000 + n++;
  by.send({ id, call: { method: `qim.v1.${method}`, body: withField({ ...bodyOf(method, path), ...beside }, path.split('.'), value) } });
  for (;;) {
    const frame = await by.next();
    if (frame.id === id) return frame;
  }
}

describe.each(Object.entries(FIELD_CASES))('%s', (method, cases) => {
  it.each(cases.map((entry) => [entry.path, entry] as const))(
    'takes %s at its bound, and past it refuses it by name and stores nothing',
    async (path, entry) => {
      for (const { value, reason = 'INVALID_ARGUMENT', field = path } of entry.bad.map(badCase)) {
        const shown = JSON.stringify(value)?.slice(0, 60);
        const { error } = await ask(method, entry, value);
        expect([shown, error?.reason, error?.field]).toEqual([shown, reason, field]);
        expect(error.code).toBe('invalid_argument');
      }
      expect(writes).toBe(0);
      for (const value of entry.good) {
        const { error } = await ask(method, entry, value);
        // A well-formed id need not be anybody's.
        const refused = ['INVALID_ARGUMENT', 'PAYLOAD_TOO_LARGE', 'INTERNAL'].includes(error?.reason);
        expect([JSON.stringify(value).slice(0, 60), refused ? error : undefined]).toEqual([expect.any(String), undefined]);
      }
    },
  );
});

it('refuses a send that names neither conversation nor user', async () => {
  const { error } = await ask('MessageService/SendMessage', { path: 'conversationId', good: [], bad: [] }, null);
  expect(error).toMatchObject({ reason: 'INVALID_ARGUMENT', field: 'conversationId' });
});

it('has a case for every field of every method that is built', () => {
  const missing: string[] = [];
  for (const service of [
    MessageService,
    SessionService,
    ConversationService,
    ProfileService,
    PushService,
    ModerationService,
    AdminService,
  ]) {
    for (const method of service.methods) {
      const name = methodName(method);
      if (UNBUILT_METHODS.has(name)) continue;
      const known = new Set((FIELD_CASES[name.replace('qim.v1.', '')] ?? []).map(({ path }) => path));
      for (const path of pathsOf(method.input)) if (!known.has(path)) missing.push(`${name} ${path}`);
    }
  }
  expect(missing).toEqual([]);
});

function pathsOf(desc: DescMessage, prefix = ''): string[] {
  return desc.fields.flatMap((field) => {
    const path = prefix + field.jsonName;
    return field.fieldKind === 'message' ? [path, ...pathsOf(field.message, `${path}.`)] : [path];
  });
}
