/**
 * The seed's verification plan (section 7) on a real Redis, case by case, and its reading algorithm (section 4) as the
 * server's own command log tells it.
 */
import { DEDUP_WEEK_MS, EXACT_UNREAD_SCAN_LIMIT, LEGACY_TENANT_ID, MessageStatus, SEQ_ZERO, type UserId } from '@qim/proto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { KeySpace, userKeys } from '../src/redis/keys.js';
import type { CommandLog, LoggedCommand } from '../src/testing/command-log.js';
import { type Chat, Fixture, refusedWith, seq, TENANT } from '../src/testing/conformance/fixture.js';
import type { DamageKind } from '../src/testing/damage-kinds.js';
import { FAST_PATHS, type RawClient, RedisBackend, rawClient } from './redis-backend.js';

let backend: RedisBackend;
let raw: RawClient;
let alice: UserId;
let bob: UserId;
let chat: Chat;
let fixture: Fixture;
const keySpace = new KeySpace(64);

beforeAll(async () => {
  backend = await RedisBackend.open();
  raw = await rawClient(backend.server.url);
});
afterAll(async () => {
  raw.destroy();
  await backend.close();
});

beforeEach(() => {
  fixture = new Fixture(backend);
  alice = fixture.user('alice');
  bob = fixture.user('bob');
  chat = fixture.direct(alice, bob);
});

describe('the seed, section 7', () => {
  test('the recipient sees the canonical head and a non-zero unread count', async () => {
    await chat.sayTimes(alice, 2);
    await chat.edit(2, 'edited');
    const head = await chat.record(2);
    expect(await chat.summary(bob)).toEqual({
      conversationId: chat.conversationId,
      latestConversationSeq: 2,
      lastActivityId: head.activityId,
      lastMessageId: head.messageId,
      unreadCount: 2,
      unreadExact: true,
      mentionCount: 0,
    });
    expect(head.status).toBe(MessageStatus.Edited);
    expect(head.activityId).not.toBe(head.messageId);
  });

  test("the sender's own messages are not counted", async () => {
    await chat.sayTimes(alice, 3);
    await chat.say(bob);
    expect(await chat.unread(alice)).toEqual([1, true]);
    expect(await chat.unread(bob)).toEqual([3, true]);
  });

  test('messages up to read_conversation_seq are not counted', async () => {
    await chat.sayTimes(alice, 5);
    expect(await chat.unread(bob, 3)).toEqual([2, true]);
    expect(await chat.unread(bob, 5)).toEqual([0, true]);
  });

  describe('a history member whose record is missing or damaged gives CorruptRecord', () => {
    const cases: readonly (readonly [DamageKind, string])[] = [
      ['recordMissing', 'recordMissing'],
      ['recordBitFlipped', 'recordUnreadable'],
      ['recordTruncated', 'recordUnreadable'],
      ['recordOtherTenant', 'recordMismatch'],
      ['recordOtherConversation', 'recordMismatch'],
      ['recordOtherSequence', 'recordMismatch'],
      ['indexMemberMissing', 'chainBroken'],
      ['indexKeyMissing', 'indexMissing'],
      ['factsMissing', 'factsMissing'],
    ];
    test.each(cases)('%s: %s', async (kind, reason) => {
      await chat.sayTimes(alice, 4);
      const { tenantId, conversationId } = chat;
      await backend.damage({ tenantId, conversationId, conversationSeq: seq(3) }, kind);
      const error: unknown = await chat.summary(bob).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({ code: 'CorruptRecord', detail: { tenantId, conversationId, reason } });
    });
  });

  test('past 200 messages the count is 200 and not exact', async () => {
    await Promise.all(Array.from({ length: EXACT_UNREAD_SCAN_LIMIT + 1 }, () => chat.say(alice)));
    expect(await chat.unread(bob, 1)).toEqual([200, true]);
    expect(await chat.unread(bob, 0)).toEqual([200, false]);
  });

  test('a distance past 200 is not exact, even when it is nearly all hole', async () => {
    await chat.say(alice);
    await chat.skip(199);
    await chat.say(alice);
    expect(await chat.unread(bob, 1)).toEqual([1, true]);
    expect(await chat.unread(bob, 0)).toEqual([200, false]);
  });
});

describe('the command log', () => {
  /** The facts of a conversation: all at once by the wire of our own, by their names without it. */
  const FACTS = process.env.QIM_FAST_PATHS === 'false' ? 'HMGET' : 'HGETALL';
  let log: CommandLog;
  beforeEach(async () => {
    log = await backend.server.commandLog();
  });
  afterEach(() => log.close());

  /** What one call made the server do. */
  async function during(call: () => Promise<unknown>): Promise<readonly LoggedCommand[]> {
    await log.clear();
    await call();
    return await log.read();
  }

  function list(chats: readonly Chat[], watermark = 0) {
    const states = chats.map(({ conversationId }) => ({ conversationId, watermark: seq(watermark) }));
    return backend.store.messages.conversationSummaries(TENANT, bob, states);
  }

  async function severalChats(): Promise<Chat[]> {
    const chats = [chat, fixture.direct(alice, bob), fixture.direct(bob, alice)];
    for (const each of chats) await each.sayTimes(alice, 3);
    return chats;
  }

  test('a page takes two rounds: no record is asked for before the last index was', async () => {
    const chats = await severalChats();
    const commands = await during(() => list(chats));
    const round = ({ args: [key = ''] }: LoggedCommand): number => (key.startsWith('msgrecord:') ? 2 : 1);
    expect(commands.map(round)).toEqual([...Array<number>(4 * chats.length).fill(1), ...Array<number>(chats.length).fill(2)]);
    const first = [FACTS, 'ZRANGE', 'ZRANGEBYLEX', 'HGET'];
    expect(commands.map(({ name }) => name)).toEqual([...first, ...first, ...first, 'HMGET', 'HMGET', 'HMGET']);
    expect(new Set(commands.map(({ client }) => client)).size).toBe(1);
  });

  test('a page takes two round trips, however many conversations it has', async () => {
    let trips = 0;
    const counting = await RedisBackend.open({ observer: { roundTrip: () => (trips += 1) } });
    try {
      const [own, chats] = [new Fixture(counting), [] as Chat[]];
      for (let n = 0; n < 100; n += 1) chats.push(own.direct(alice, bob));
      await Promise.all(chats.map((each) => each.say(alice)));
      trips = 0;
      const states = chats.map(({ conversationId }) => ({ conversationId, watermark: SEQ_ZERO }));
      expect(await counting.store.messages.conversationSummaries(TENANT, bob, states)).toHaveLength(100);
      expect(trips).toBe(2);
    } finally {
      await counting.close();
    }
  });

  test('an empty page costs no command', async () => {
    expect(await during(() => list([]))).toEqual([]);
  });

  test('conversations without a message cost the first round alone', async () => {
    const { conversationId } = chat;
    const states = [{ conversationId, watermark: SEQ_ZERO }];
    const commands = await during(() => backend.store.messages.readConversations(TENANT, bob, states));
    expect(commands.map(({ name }) => name)).toEqual([FACTS, 'ZRANGE', 'ZRANGEBYLEX', 'HGET']);
  });

  test('the window is bounded by 200, and past it only the head is read', async () => {
    await Promise.all(Array.from({ length: 450 }, () => chat.say(alice)));
    const saturated = await during(() => list([chat]));
    expect(saturated.find(({ name }) => name === 'ZRANGEBYLEX')?.args.slice(-3)).toEqual(['LIMIT', '0', '200']);
    const read = (commands: readonly LoggedCommand[]) =>
      commands.filter(({ args }) => args[0]?.startsWith('msgrecord:')).flatMap(({ args }) => args.slice(1));
    expect(read(saturated)).toEqual(['450']);
    const exact = await during(() => list([chat], 250));
    expect(read(exact)).toEqual(Array.from({ length: 200 }, (_, i) => String(251 + i)));
    expect(exact.filter(({ args }) => args[0]?.startsWith('msgrecord:'))).toHaveLength(2);
  });

  test('the retired key of the old history is never touched, not even when it holds garbage', async () => {
    const retired = [`hist:${chat.conversationId}`, `hist:{${chat.conversationId}}`];
    for (const key of retired) await raw.sendCommand(['SET', key, 'garbage']);
    const { messages, directory } = backend.store;
    const commands = await during(async () => {
      await chat.sayTimes(alice, 3);
      await chat.edit(1, 'edited');
      await directory.join(TENANT, chat.conversationId, [{ userId: bob, joinedSeq: seq(1), visibleFrom: seq(1) }], {
        conversationSeq: seq(3),
        activityAtMs: 1,
      });
      await directory.page(TENANT, bob, 10, undefined);
      await directory.raiseRead(TENANT, bob, chat.conversationId, seq(1));
      expect(await chat.unread(bob, 1)).toEqual([2, true]);
      await chat.history(bob);
      await messages.readMembers(TENANT, chat.conversationId);
    });
    expect(commands.length).toBeGreaterThan(40);
    expect(commands.filter(({ args }) => args.some((arg) => arg.includes('hist:')))).toEqual([]);
    for (const key of retired) expect((await raw.sendCommand<Buffer>(['GET', key])).toString()).toBe('garbage');
  });

  test('a commit is one script call, and those that wait together share it', async () => {
    await chat.say(alice);
    const one = await during(() => chat.say(alice));
    expect(one.filter(({ client }) => client !== 'lua').map(({ name }) => name)).toEqual(['EVALSHA']);
    const many = await during(() => Promise.all(Array.from({ length: 100 }, () => chat.say(alice))));
    expect(many.filter(({ client }) => client !== 'lua').map(({ name }) => name)).toEqual(['EVALSHA']);
    expect(await chat.unread(bob)).toEqual([102, true]);
  });

  test('a bucket or week that was guessed wrong costs one more call, also for a batch that spans two buckets', async () => {
    const calls = async (call: () => Promise<unknown>) => (await during(call)).filter(({ client }) => client !== 'lua').length;
    await chat.say(alice);
    await chat.skip(1_020);
    const sent: number[] = [];
    const batch = async () => {
      const outcomes = await Promise.all(Array.from({ length: 5 }, () => chat.say(alice)));
      sent.push(...outcomes.map(({ conversationSeq }) => conversationSeq));
    };
    expect(await calls(batch)).toBe(2);
    expect(sent).toEqual([1_022, 1_023, 1_024, 1_025, 1_026]);
    expect(await calls(() => chat.say(alice))).toBe(1);
    backend.advance(DEDUP_WEEK_MS);
    expect(await calls(() => chat.say(alice))).toBe(2);
    expect(await calls(() => chat.say(alice))).toBe(1);
    backend.advance(-DEDUP_WEEK_MS);
    expect(await chat.unread(bob, 1_000)).toEqual([8, true]);
  });
});

describe('canonical keys', () => {
  test('are those of the seed, and fields and members have its forms', async () => {
    await chat.sayTimes(alice, 300);
    const { history, records } = keysOf(chat);
    const own = keysOf(chat);
    expect(history).toMatch(/^msghistory:\{c\d{3}\}:7:g_/);
    expect(records.call(own, 1)).toMatch(/^msgrecord:\{c\d{3}\}:7:g_.*:1$/);
    const [member, score] = await raw.sendCommand<Buffer[]>(['ZRANGE', history, '299', '299', 'WITHSCORES']);
    expect(member?.toString('hex')).toBe('000000000000012c');
    expect(String(score)).toBe('0');
    expect(await raw.sendCommand(['HLEN', own.records(0)])).toBe(255);
    expect(await raw.sendCommand(['HEXISTS', own.records(1), '256'])).toBe(1);
    expect(await raw.sendCommand(['HLEN', own.records(1)])).toBe(45);
  });

  test("a user's keys of the legacy tenant are exactly the seed's", () => {
    expect(userKeys(LEGACY_TENANT_ID, alice)).toMatchObject({
      conversations: expect.stringMatching(/^convs:\{alice%20[0-9a-f]+\}$/) as string,
      read: expect.stringMatching(/^read:\{alice%20[0-9a-f]+\}$/) as string,
    });
  });

  test('what is erased, or comes to lie inside the record again, leaves no body behind', async () => {
    const keys = keysOf(chat);
    const bodies = async () => raw.sendCommand(['HLEN', keys.bodies(0)]);
    for (let n = 0; n < 3; n += 1) await chat.say(alice, 'a secret '.repeat(1_000));
    expect(await bodies()).toBe(3);
    await chat.edit(1, 'short');
    expect(await bodies()).toBe(2);
    await chat.recall(2);
    await chat.delete(3);
    expect(await bodies()).toBe(0);
    const records = await raw.sendCommand<(Buffer | string)[]>(['HGETALL', keys.records(0)]);
    expect(records.filter((part) => part.includes('secret'))).toEqual([]);
  });

  test('de-duplication entries leave with their week, two weeks after the first of them', async () => {
    await chat.say(alice);
    const week = Math.floor(Date.now() / DEDUP_WEEK_MS);
    const left = Number(await raw.sendCommand(['PTTL', keysOf(chat).dedup(week)]));
    expect(left).toBeGreaterThan(2 * DEDUP_WEEK_MS - 60_000);
    expect(left).toBeLessThanOrEqual(2 * DEDUP_WEEK_MS);
    await raw.sendCommand(['PEXPIRE', keysOf(chat).dedup(week), '60000']);
    await chat.say(alice);
    expect(await raw.sendCommand(['PTTL', keysOf(chat).dedup(week)])).toBeLessThanOrEqual(60_000);
  });

  test('an outsider lists nothing of another tenant', async () => {
    await chat.say(alice);
    const states = [{ conversationId: chat.conversationId, watermark: SEQ_ZERO }];
    await refusedWith(backend.store.messages.conversationSummaries(LEGACY_TENANT_ID, bob, states), 'CorruptRecord');
  });

  function keysOf({ tenantId, conversationId }: Chat) {
    return keySpace.conversation(tenantId, conversationId);
  }
});

test('the store has one connection, one more for pages once one was read, and one for the outbox once it is read from', async () => {
  const alone = await RedisBackend.open();
  const admin = await rawClient(alone.server.url);
  try {
    const names = async () => (await admin.sendCommand<Buffer>(['CLIENT', 'LIST'])).toString().match(/(?<= name=)qim\S*/g);
    expect(await names()).toEqual(['qim']);
    const chats = Array.from({ length: 20 }, () => new Fixture(alone).direct(alice, bob));
    await Promise.all(chats.map((each) => each.say(alice)));
    await Promise.all(chats.map((each) => each.unread(bob)));
    const pages = FAST_PATHS ? ['qim-pages'] : [];
    await expect.poll(names).toEqual(['qim', ...pages]);
    const lease = await alone.store.outbox.acquire(0, 'owner', 1_000);
    await alone.store.outbox.read(lease === undefined ? [] : [lease], 0, new AbortController().signal);
    expect([...((await names()) ?? [])].sort()).toEqual(['qim', 'qim-outbox', ...pages]);
  } finally {
    admin.destroy();
    await alone.close();
  }
});
