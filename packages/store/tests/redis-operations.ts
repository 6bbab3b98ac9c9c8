/** Writes of every shape, as the tests of faults and of crashes run them. */
import { ControlKind, HistoryVisibility, MessageType, type UserId } from '@qim/proto';
import type { CommitRequest } from '../src/message/message-store.js';
import type { ScriptTransform } from '../src/redis/scripts.js';
import type { OpenedBackend } from '../src/testing/conformance/backend.js';
import { type Chat, control, Fixture } from '../src/testing/conformance/fixture.js';
import type { RawClient, RedisBackend } from './redis-backend.js';
import { dump } from './redis-dump.js';

/** A text whose body lies apart. */
export const APART = 'long '.repeat(1_000);
/** The commands with which commit, amend and retain write. */
export const WRITES: ReadonlySet<string> = new Set(['XADD', 'HSET', 'HDEL', 'ZADD', 'PEXPIRE', 'ZREM', 'UNLINK']);
/** Which call of a script goes wrong, counted from 1, and how. */
const FAULT_AT = 'fault:at';
const FAULT_KIND = 'fault:kind';

/** Counts the calls of commit, amend and retain; at the chosen one it throws, or never comes back. */
export const plantedFaults: ScriptTransform = (name, text) => {
  if (name !== 'commit' && name !== 'amend' && name !== 'retain') return text;
  return `
    local real, calls = redis, 0
    local at, kind = tonumber(real.call('GET', '${FAULT_AT}') or '0'), real.call('GET', '${FAULT_KIND}')
    local function step(run, ...)
      calls = calls + 1
      if calls == at and kind == 'throw' then error('planted') end
      while calls == at and kind == 'hang' do end
      return run(...)
    end
    local redis = setmetatable({
      call = function(...) return step(real.call, ...) end,
      pcall = function(...) return step(real.pcall, ...) end,
    }, { __index = real })
    ${text}`;
};

export async function plantFault(raw: RawClient, at: number, kind: 'throw' | 'hang'): Promise<void> {
  await raw.sendCommand(['MSET', FAULT_AT, String(at), FAULT_KIND, kind]);
}

/** What is stored, the planted fault left out, and which server takes the writes: a restart changes that. */
export async function stored(raw: RawClient): Promise<ReadonlyMap<string, unknown>> {
  const all = new Map(await dump(raw));
  all.delete(FAULT_AT);
  all.delete(FAULT_KIND);
  for (const key of all.keys()) if (key.startsWith('partition:')) all.delete(key);
  return all;
}

/** What the server runs while `call` does, in order: the calls inside scripts, or all commands. */
export async function commandsOf(backend: RedisBackend, call: () => Promise<unknown>) {
  const log = await backend.server.commandLog();
  try {
    await call();
    const inside = (await log.read()).filter(({ client, args }) => client === 'lua' && !args[0]?.startsWith('fault:'));
    return inside.map(({ name, args: [key = ''] }) => ({ name, key }));
  } finally {
    log.close();
  }
}

export interface Operation {
  readonly name: string;
  /** Makes what the operation works on, and the operation itself; it can be run again after a failure. */
  readonly prepare: (people: People) => Promise<{ readonly chat: Chat; readonly run: () => Promise<unknown> }>;
}

export class People {
  readonly fixture: Fixture;
  readonly alice: UserId;
  readonly bob: UserId;

  constructor(backend: OpenedBackend) {
    this.fixture = new Fixture(backend);
    this.alice = this.fixture.user('alice');
    this.bob = this.fixture.user('bob');
  }

  direct(): Chat {
    return this.fixture.direct(this.alice, this.bob);
  }
}

function commitOf(chat: Chat, request: CommitRequest): () => Promise<unknown> {
  return () => chat.messages.commit(request);
}

export const OPERATIONS: readonly Operation[] = [
  {
    name: 'a commit that makes a conversation',
    prepare: async (people) => {
      const chat = people.direct();
      return { chat, run: commitOf(chat, chat.request(people.alice, APART)) };
    },
  },
  {
    name: 'one more message',
    prepare: async (people) => {
      const chat = people.direct();
      await chat.say(people.alice);
      return { chat, run: commitOf(chat, chat.request(people.bob, APART)) };
    },
  },
  {
    name: 'a join',
    prepare: async (people) => {
      const chat = await people.fixture.group(people.alice, [people.bob], { historyVisibility: HistoryVisibility.All });
      const userIds = [people.fixture.user('carol')];
      const content = control({ kind: ControlKind.Joined, userIds });
      const said = { type: MessageType.Control, content, needs: 'admin', change: { kind: 'join', userIds } } as const;
      return { chat, run: commitOf(chat, chat.request(people.alice, said)) };
    },
  },
  {
    name: 'three commits that share a step, over the end of a bucket',
    prepare: async (people) => {
      const chat = people.direct();
      await chat.say(people.alice);
      await chat.skip(253);
      await chat.say(people.alice);
      const requests = [chat.request(people.alice), chat.request(people.bob, APART), chat.request(people.alice, APART)];
      return { chat, run: () => Promise.all(requests.map((request) => commitOf(chat, request)())) };
    },
  },
  {
    name: 'commits of two conversations that share a step, one of which is made by it',
    prepare: async (people) => {
      const chat = people.direct();
      await chat.say(people.alice);
      const other = people.fixture.direct(people.bob, people.fixture.user('carol'));
      const requests = [
        [chat, chat.request(people.bob, APART)],
        [other, other.request(people.bob)],
      ] as const;
      return { chat, run: () => Promise.all(requests.map(([place, request]) => commitOf(place, request)())) };
    },
  },
  {
    name: 'an amendment whose body comes to lie apart',
    prepare: async (people) => {
      const chat = people.direct();
      await chat.say(people.alice);
      return { chat, run: () => chat.edit(1, APART) };
    },
  },
  {
    name: 'a recall that erases a body apart',
    prepare: async (people) => {
      const chat = people.direct();
      await chat.say(people.alice, APART);
      return { chat, run: () => chat.recall(1) };
    },
  },
  {
    name: 'retention of a whole bucket, a part of the next, and the content of the newest',
    prepare: async (people) => {
      const chat = people.direct();
      for (let n = 0; n < 2; n += 1) await chat.say(people.alice, APART);
      await chat.edit(2, APART.repeat(2));
      await chat.skip(270);
      for (let n = 0; n < 3; n += 1) await chat.say(people.bob, APART);
      const { tenantId, conversationId } = chat;
      return { chat, run: () => chat.messages.retain(tenantId, conversationId, { olderThanMs: undefined, keepNewest: 0 }) };
    },
  },
];
