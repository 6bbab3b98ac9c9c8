/** What the user's keys hold on Redis, and what becomes of entries that cannot be read. */
import {
  type ConversationId,
  DEDUP_WEEK_MS,
  LIST_PAGE_SIZE_MAX,
  parseConversationId,
  parseUserId,
  TOMBSTONES_CLEARED_MAX,
  TOUCH_USERS_PER_CALL_MAX,
  type UserId,
} from '@qim/proto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Directory, DirectoryCursor } from '../src/directory/directory.js';
import { groupRequestKey, userKeys } from '../src/redis/keys.js';
import { refusedWith, seq, TENANT } from '../src/testing/conformance/fixture.js';
import { FAST_PATHS, type RawClient, RedisBackend, rawClient } from './redis-backend.js';

let backend: RedisBackend;
let raw: RawClient;
let directory: Directory;
let tests = 0;
let bob = parseUserId('bob');
let keys = userKeys(TENANT, bob);

beforeAll(async () => {
  backend = await RedisBackend.open();
  raw = await rawClient(backend.server.url);
  ({ directory } = backend.store);
});
afterAll(async () => {
  raw.destroy();
  await backend.close();
});
beforeEach(() => {
  tests += 1;
  bob = parseUserId(`bob ${tests}`);
  keys = userKeys(TENANT, bob);
});

const chat = (n: number): ConversationId => parseConversationId(`g_${String(n).padStart(4, '0')}`);

function join(n: number, joinedSeq = 1, activityAtMs = 1_000 + n): Promise<void> {
  const users = [{ userId: bob, joinedSeq: seq(joinedSeq), visibleFrom: seq(1) }];
  return directory.join(TENANT, chat(n), users, { conversationSeq: seq(joinedSeq), activityAtMs });
}

async function listed(): Promise<ConversationId[]> {
  const { views } = await directory.page(TENANT, bob, LIST_PAGE_SIZE_MAX, undefined);
  return views.map(({ conversationId }) => conversationId);
}

async function text(...command: string[]): Promise<string> {
  return (await raw.sendCommand<Buffer>(command)).toString();
}

describe('the stored forms', () => {
  test('are those of the data model', async () => {
    await join(1, 5);
    await directory.raiseRead(TENANT, bob, chat(1), seq(7));
    expect(await text('ZSCORE', keys.conversations, chat(1))).toBe('1001');
    expect(await text('HGET', keys.read, chat(1))).toBe('7');
    expect(await text('HGET', keys.view, chat(1))).toBe('5 1 0 0 5 0 1');
    await directory.leave(TENANT, chat(1), [bob], seq(9));
    expect(await text('HGET', keys.view, chat(1))).toBe('5 1 0 0 9 0 0');
    expect(await raw.sendCommand(['ZSCORE', keys.conversations, chat(1)])).toBeNull();
    expect(await text('HGET', keys.read, chat(1))).toBe('7');
  });
});

describe('one activity of many users', () => {
  const users = (count: number) => Array.from({ length: count }, (_, n) => parseUserId(`many ${tests} ${n}`));
  const joinAll = (userIds: readonly UserId[]) =>
    directory.join(
      TENANT,
      chat(1),
      userIds.map((userId) => ({ userId, joinedSeq: seq(1), visibleFrom: seq(1) })),
      { conversationSeq: seq(1), activityAtMs: 1_000 },
    );
  const touchAll = (userIds: readonly UserId[]) =>
    directory.touch(TENANT, chat(1), userIds, { conversationSeq: seq(2), activityAtMs: 2_000 });
  const places = (userIds: readonly UserId[]) =>
    Promise.all(userIds.map((userId) => text('ZSCORE', userKeys(TENANT, userId).conversations, chat(1))));

  test('is one call for as many as the bound, two for one more, and reaches each', async () => {
    const all = users(TOUCH_USERS_PER_CALL_MAX + 1);
    await joinAll(all);
    const log = await backend.server.commandLog();
    const calls = async (userIds: readonly UserId[]) => {
      await log.clear();
      await touchAll(userIds);
      return (await log.read()).filter(({ client }) => client !== 'lua').length;
    };
    expect(await calls(all.slice(1))).toBe(FAST_PATHS ? 1 : TOUCH_USERS_PER_CALL_MAX);
    expect(await calls(all)).toBe(FAST_PATHS ? 2 : TOUCH_USERS_PER_CALL_MAX + 1);
    log.close();
    expect(new Set(await places(all))).toEqual(new Set(['2000']));
  });

  test('reaches those before and after one whose key has a wrong type, and says that it could not reach all', async () => {
    const [first, broken, last] = users(3) as [UserId, UserId, UserId];
    await joinAll([first, broken, last]);
    const { view } = userKeys(TENANT, broken);
    await raw.sendCommand(['SET', view, 'a string']);
    await refusedWith(touchAll([first, broken, last]), 'StoreUnavailable');
    expect(await places([first, last])).toEqual(['2000', '2000']);
  });

  test('of nobody asks nothing', async () => {
    await touchAll([]);
  });
});

describe('tombstones', () => {
  test('stay as long as de-duplication entries live, and are cleared away by later leaves, a few by each', async () => {
    const count = TOMBSTONES_CLEARED_MAX + 4;
    for (let n = 1; n <= count; n += 1) {
      await join(n);
      await directory.leave(TENANT, chat(n), [bob], seq(2));
    }
    await join(100);
    await directory.leave(TENANT, chat(100), [bob], seq(2));
    expect(await raw.sendCommand(['HLEN', keys.view])).toBe(count + 1);
    backend.advance(2 * DEDUP_WEEK_MS);
    // Rejoined meanwhile: no tombstone any more.
    await join(1, 3);
    for (const [n, left] of [
      [101, count + 1 - TOMBSTONES_CLEARED_MAX + 1],
      [102, 3],
    ] as const) {
      await join(n);
      await directory.leave(TENANT, chat(n), [bob], seq(2));
      expect(await raw.sendCommand(['HLEN', keys.view])).toBe(left);
    }
    expect(await listed()).toEqual([chat(1)]);
    backend.advance(-2 * DEDUP_WEEK_MS);
  });

  test('keep what comes late from bringing the conversation back', async () => {
    await join(1, 4);
    await directory.leave(TENANT, chat(1), [bob], seq(6));
    await join(1, 4);
    await directory.touch(TENANT, chat(1), [bob], { conversationSeq: seq(5), activityAtMs: 9_999 });
    expect(await listed()).toEqual([]);
    expect(await directory.view(TENANT, bob, chat(1))).toBeUndefined();
    await join(1, 8);
    await directory.leave(TENANT, chat(1), [bob], seq(6));
    expect(await listed()).toEqual([chat(1)]);
  });
});

describe('an entry that cannot be read', () => {
  test('lists the conversation as if joined at its beginning: the member entry decides', async () => {
    await join(1, 5);
    for (const broken of ['garbage', '5 1 0 0 5 99 1', '5 1 0 0 5 0', '']) {
      await raw.sendCommand(['HSET', keys.view, chat(1), broken]);
      const { views } = await directory.page(TENANT, bob, 10, undefined);
      expect(views).toMatchObject([{ conversationId: chat(1), joinedSeq: 1, visibleFrom: 1, clearedSeq: 0 }]);
      expect(await directory.view(TENANT, bob, chat(1))).toMatchObject({ joinedSeq: 1, visibleFrom: 1 });
    }
    await raw.sendCommand(['HDEL', keys.view, chat(1)]);
    expect(await listed()).toEqual([chat(1)]);
    expect(await directory.view(TENANT, bob, chat(1))).toBeUndefined();
    await directory.touch(TENANT, chat(1), [bob], { conversationSeq: seq(6), activityAtMs: 5_000 });
    expect(await text('ZSCORE', keys.conversations, chat(1))).toBe('5000');
    await join(1, 5);
    expect(await text('HGET', keys.view, chat(1))).toBe('5 1 0 0 5 0 1');
  });

  test('a name that is no conversation id is passed over, and paging goes on past it', async () => {
    for (let n = 1; n <= 3; n += 1) await join(n);
    for (const [name, at] of [
      ['no id', '5000'],
      ['', '1002'],
      ['!', '1'],
    ] as const) {
      await raw.sendCommand(['ZADD', keys.conversations, at, name]);
    }
    const found: ConversationId[] = [];
    let cursor: DirectoryCursor | undefined;
    do {
      const page = await directory.page(TENANT, bob, 1, cursor);
      found.push(...page.views.map(({ conversationId }) => conversationId));
      cursor = page.next;
    } while (cursor !== undefined);
    expect(found).toEqual([chat(3), chat(2), chat(1)]);
  });

  test('a read mark that is no number hides nothing, and is raised from nothing', async () => {
    await join(1);
    await raw.sendCommand(['HSET', keys.read, chat(1), '12x']);
    expect((await directory.page(TENANT, bob, 10, undefined)).views).toMatchObject([{ readSeq: 0 }]);
    expect(await directory.raiseRead(TENANT, bob, chat(1), seq(3))).toBe(3);
    expect(await text('HGET', keys.read, chat(1))).toBe('3');
  });

  test.each(['conversations', 'read', 'view'] as const)(
    'a key of a wrong type (%s) is StoreUnavailable, and nothing is written',
    async (name) => {
      await join(1);
      await raw.sendCommand(['SET', keys[name], 'a string']);
      await refusedWith(directory.page(TENANT, bob, 10, undefined), 'StoreUnavailable');
      if (name !== 'read') {
        await refusedWith(join(2), 'StoreUnavailable');
        await refusedWith(directory.leave(TENANT, chat(1), [bob], seq(9)), 'StoreUnavailable');
      }
      if (name !== 'conversations') await refusedWith(directory.raiseRead(TENANT, bob, chat(1), seq(1)), 'StoreUnavailable');
      expect(await raw.sendCommand(['EXISTS', keys.left])).toBe(0);
    },
  );
});

describe('a hidden conversation', () => {
  beforeEach(async () => {
    await join(1, 5);
    await raw.sendCommand(['HSET', keys.view, chat(1), '5 1 0 8 5 5 1']);
    await raw.sendCommand(['ZREM', keys.conversations, chat(1)]);
  });

  test('stays away for what it was hidden with, and comes back with what is newer', async () => {
    await directory.touch(TENANT, chat(1), [bob], { conversationSeq: seq(8), activityAtMs: 2_000 });
    expect(await listed()).toEqual([]);
    await directory.touch(TENANT, chat(1), [bob], { conversationSeq: seq(9), activityAtMs: 2_001 });
    const { views } = await directory.page(TENANT, bob, 10, undefined);
    expect(views).toMatchObject([{ flags: { hidden: false, pinned: false, muted: false, markedUnread: false } }]);
  });

  test('comes back with a new join', async () => {
    await join(1, 10);
    expect(await listed()).toEqual([chat(1)]);
    expect(await text('HGET', keys.view, chat(1))).toBe('10 1 0 8 10 1 1');
  });
});

test('raising the read mark takes away the mark of unread, and nothing else', async () => {
  await join(1, 5);
  await raw.sendCommand(['HSET', keys.view, chat(1), '5 1 2 0 5 15 1']);
  expect(await directory.raiseRead(TENANT, bob, chat(1), seq(4))).toBe(4);
  expect(await text('HGET', keys.view, chat(1))).toBe('5 1 2 0 5 7 1');
});

test('a page cursor holds its place among conversations of equal activity, also when its own has moved or gone', async () => {
  for (let n = 1; n <= 30; n += 1) await join(n, 1, 5_000);
  const first = await directory.page(TENANT, bob, 10, undefined);
  expect(first.next).toEqual({ activityAtMs: 5_000, conversationId: chat(21) });
  const rest = async () => {
    const { views } = await directory.page(TENANT, bob, 100, first.next);
    return views.map(({ conversationId }) => conversationId);
  };
  const expected = Array.from({ length: 20 }, (_, i) => chat(20 - i));
  expect(await rest()).toEqual(expected);
  await directory.touch(TENANT, chat(21), [bob], { conversationSeq: seq(2), activityAtMs: 6_000 });
  expect(await rest()).toEqual(expected);
  await directory.leave(TENANT, chat(21), [bob], seq(3));
  expect(await rest()).toEqual(expected);
});

test('a group request is remembered for two weeks in keys that expire', async () => {
  const made = await directory.groupForRequest(TENANT, bob, 'request', chat(1));
  expect(made).toBe(chat(1));
  expect(await directory.groupForRequest(TENANT, bob, 'request', chat(2))).toBe(chat(1));
  const week = Math.floor(Date.now() / DEDUP_WEEK_MS);
  const left = Number(await raw.sendCommand(['PTTL', groupRequestKey(TENANT, bob, week)]));
  expect(left).toBeGreaterThan(2 * DEDUP_WEEK_MS - 60_000);
  backend.advance(DEDUP_WEEK_MS);
  expect(await directory.groupForRequest(TENANT, bob, 'request', chat(3))).toBe(chat(1));
  backend.advance(DEDUP_WEEK_MS);
  expect(await directory.groupForRequest(TENANT, bob, 'request', chat(4))).toBe(chat(4));
  backend.advance(-2 * DEDUP_WEEK_MS);
});
