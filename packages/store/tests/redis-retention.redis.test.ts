/**
 * Retention on Redis: what it leaves of the keys, and what a read answers when retention, a commit or an amendment falls
 * exactly between two of its rounds, or between two commands of one.
 */
import { type ConversationSeq, HistoryVisibility, MessageStatus, SEQ_ZERO, type UserId } from '@qim/proto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ConversationKeys, KeySpace } from '../src/redis/keys.js';
import { openRedisStore } from '../src/redis/open.js';
import type { Store } from '../src/store.js';
import { Chat, Fixture, refusedWith, seq, TENANT, TITLE, text } from '../src/testing/conformance/fixture.js';
import { type RawClient, RedisBackend, rawClient } from './redis-backend.js';
import { RedisProxy } from './redis-proxy.js';

const APART = 'long '.repeat(1_000);
let backend: RedisBackend;
let raw: RawClient;
let proxy: RedisProxy;
let reader: Store;
let redos: number;
let damages: string[];
let alice: UserId;
let bob: UserId;
/** Written to directly, and read through the proxy. */
let chat: Chat;
let read: Chat;
let keys: ConversationKeys;

beforeAll(async () => {
  backend = await RedisBackend.open();
  raw = await rawClient(backend.server.url);
  proxy = await RedisProxy.open(backend.server.port);
  reader = await openRedisStore(proxy.url, { observer: { redo: () => (redos += 1), damage: (reason) => damages.push(reason) } });
});
afterAll(async () => {
  await reader.close();
  await proxy.close();
  raw.destroy();
  await backend.close();
});

beforeEach(async () => {
  const fixture = new Fixture(backend);
  alice = fixture.user('alice');
  bob = fixture.user('bob');
  chat = await fixture.group(alice, [bob], { historyVisibility: HistoryVisibility.All });
  const through = new Fixture({ store: reader, advance() {}, skipSequences: never, close: never });
  read = new Chat(through, TENANT, chat.conversationId, undefined);
  keys = new KeySpace(64).conversation(TENANT, chat.conversationId);
  redos = 0;
  damages = [];
});

function never(): Promise<never> {
  throw new Error('not used here');
}

const retain = (of: Chat, keepNewest: number) => of.messages.retain(of.tenantId, of.conversationId, { olderThanMs: undefined, keepNewest });

async function caughtUp(after: ConversationSeq, amendmentCursor = 0) {
  const { tenantId, conversationId } = read;
  const query = { tenantId, userId: bob, conversationId, clearedSeq: SEQ_ZERO, epoch: 1, after, amendmentCursor, limit: 200 };
  const page = await read.messages.catchUp(query);
  if (page.kind === 'reset') throw new Error('there is no other epoch');
  const seqs = (records: typeof page.records) => records.map(({ conversationSeq }) => Number(conversationSeq));
  return { ...page, news: seqs(page.records), held: seqs(page.amended) };
}

describe('what retention leaves', () => {
  test('whole buckets are gone, parts are emptied, and nothing of what was removed is kept', async () => {
    await chat.sayTimes(alice, 3, { content: text(APART) });
    for (const at of [2, 4]) await chat.edit(at, APART.repeat(2));
    await chat.skip(300);
    await chat.sayTimes(alice, 3, { content: text(APART) });
    const orphan = Buffer.from('left over');
    await raw.sendCommand(['HSET', keys.records(0), '77', orphan]);
    expect(await retain(chat, 2)).toEqual({ removed: 5, more: false });
    expect(await raw.sendCommand(['EXISTS', keys.records(0), keys.bodies(0)])).toBe(0);
    expect((await raw.sendCommand<Buffer[]>(['HKEYS', keys.records(1)])).map(String).sort()).toEqual(['306', '307']);
    expect((await raw.sendCommand<Buffer[]>(['HKEYS', keys.bodies(1)])).map(String).sort()).toEqual(['306', '307']);
    expect(await raw.sendCommand(['ZCARD', keys.history])).toBe(2);
    expect(await raw.sendCommand(['EXISTS', keys.amendments])).toBe(0);
    expect((await raw.sendCommand<Buffer[]>(['HMGET', keys.facts, 'retainedFrom', 'lastSequence'])).map(String)).toEqual(['306', '307']);
  });

  test('the newest that lost its content has one amendment, one outbox entry, and no body', async () => {
    await chat.say(alice, APART);
    const before = await raw.sendCommand<number>(['XLEN', keys.outbox]);
    expect(await retain(chat, 0)).toEqual({ removed: 1, more: false });
    expect(await raw.sendCommand(['EXISTS', keys.bodies(0)])).toBe(0);
    expect(await raw.sendCommand(['ZCARD', keys.amendments])).toBe(1);
    expect(await raw.sendCommand(['XLEN', keys.outbox])).toBe(before + 1);
    const [entry] = await raw.sendCommand<[Buffer, Buffer[]][]>(['XREVRANGE', keys.outbox, '+', '-', 'COUNT', '1']);
    expect(entry?.[1].map(String)).toEqual(['k', 'amended', 't', String(TENANT), 'c', chat.conversationId, 's', '2']);
  });

  test.each([
    ['facts', () => keys.facts],
    ['history', () => keys.history],
    ['amendments', () => keys.amendments],
    ['outbox', () => keys.outbox],
    ['records', () => keys.records(0)],
    ['bodies', () => keys.bodies(0)],
  ])('%s of a wrong type: it says so, and removes nothing', async (name, keyOf) => {
    await chat.sayTimes(alice, 3);
    await raw.sendCommand(['SET', keyOf(), 'a string']);
    await refusedWith(retain(chat, 1), 'CorruptRecord');
    if (name !== 'history') expect(await raw.sendCommand(['ZCARD', keys.history])).toBe(4);
    // The outbox is shared by a partition.
    await raw.sendCommand(['DEL', keyOf()]);
  });
});

describe('a list', () => {
  test.each(['ZRANGE', 'ZRANGEBYLEX', 'HGET'])('that loses its beginning before %s of its first round is right', async (command) => {
    await chat.sayTimes(alice, 5);
    proxy.within(command, () => retain(chat, 3));
    expect(await read.unread(bob)).toEqual([3, true]);
    expect(damages).toEqual([]);
  });

  test.each(['ZRANGE', 'ZRANGEBYLEX', 'HGET'])('to which a message is added before %s of its first round is right', async (command) => {
    await chat.sayTimes(alice, 5);
    proxy.within(command, () => chat.say(alice));
    const [unread] = await read.unread(bob);
    expect(unread).toBe(command === 'ZRANGE' ? 6 : 5);
    expect(damages).toEqual([]);
  });

  test('that loses everything but the newest between the rounds shows the newest', async () => {
    await chat.sayTimes(alice, 5);
    proxy.once('msgrecord:', () => retain(chat, 0));
    expect(await read.sound(bob)).toMatchObject({
      summary: { latestConversationSeq: 6, unreadCount: 0, unreadExact: true },
      listing: { preview: { conversationSeq: 6, status: MessageStatus.Deleted } },
    });
    expect([redos, damages]).toEqual([1, []]);
  });

  test('whose preview goes between the rounds has none', async () => {
    await chat.sayTimes(alice, 2, TITLE);
    await chat.say(alice, 'shown');
    await chat.sayTimes(alice, 2, TITLE);
    proxy.once('msgrecord:', () => retain(chat, 2));
    const { listing } = await read.sound(bob, 5);
    expect([listing.preview, listing.previewDamage]).toEqual([undefined, undefined]);
    expect([redos, damages]).toEqual([1, []]);
  });
});

describe('history', () => {
  test.each(['ZRANGE', 'ZRANGEBYLEX', 'HGET'])('forward that loses its beginning before %s is what is left', async (command) => {
    await chat.sayTimes(alice, 5);
    proxy.within(command, () => retain(chat, 3));
    expect(await read.page(bob, { position: { after: seq(0) } })).toEqual([[4, 5, 6], false]);
    expect(damages).toEqual([]);
  });

  test.each(['ZRANGE', 'ZREVRANGEBYLEX', 'HGET'])('backward that loses its beginning before %s is what is left', async (command) => {
    await chat.sayTimes(alice, 5);
    proxy.within(command, () => retain(chat, 3));
    expect(await read.page(bob, { position: { before: seq(6) } })).toEqual([[4, 5], false]);
    expect(damages).toEqual([]);
  });

  test('whose bodies go between record and body is read once more', async () => {
    await chat.sayTimes(alice, 4, { content: text(APART) });
    proxy.once('msgbody:', () => retain(chat, 2));
    expect(await read.page(bob)).toEqual([[4, 5], false]);
    expect([redos, damages]).toEqual([1, []]);
  });
});

describe('a catch-up', () => {
  beforeEach(async () => {
    await chat.sayTimes(alice, 5);
    await chat.edit(2, 'edited');
    await chat.edit(5, 'edited');
  });

  test.each(['ZRANGE', 'ZRANGEBYLEX', 'ZRANGEBYSCORE', 'HGET'])('that loses its beginning before %s is what is left', async (command) => {
    proxy.within(command, () => retain(chat, 3));
    expect(await caughtUp(seq(5))).toMatchObject({ news: [6], held: [5], nextAmendmentCursor: 2 });
    expect(damages).toEqual([]);
  });

  test('that loses an amended record between the rounds is read once more', async () => {
    proxy.once('msgrecord:', () => retain(chat, 3));
    expect(await caughtUp(seq(5))).toMatchObject({ news: [6], held: [5], nextAmendmentCursor: 2 });
    expect([redos, damages]).toEqual([1, []]);
  });

  test.each(['ZRANGE', 'ZRANGEBYLEX', 'ZRANGEBYSCORE', 'HGET'])(
    'with an amendment before %s tells it, now or with the cursor that it gave',
    async (command) => {
      proxy.within(command, () => chat.edit(3, 'meanwhile'));
      const first = await caughtUp(seq(5));
      expect(first.nextAmendmentCursor).toBeLessThanOrEqual(3);
      const then = await caughtUp(first.nextAfter, first.nextAmendmentCursor);
      expect(then.amended.find(({ conversationSeq }) => conversationSeq === 3)?.content).toEqual(text('meanwhile'));
    },
  );

  test('with an amendment between the rounds shows it, and its cursor is older', async () => {
    proxy.once('msgrecord:', () => chat.edit(2, 'meanwhile'));
    const page = await caughtUp(seq(5));
    expect(page.amended[0]?.content).toEqual(text('meanwhile'));
    expect(page.nextAmendmentCursor).toBe(2);
    expect((await caughtUp(seq(6), 2)).held).toEqual([2]);
  });

  test.each(['ZRANGE', 'ZRANGEBYLEX', 'ZRANGEBYSCORE', 'HGET'])('to which a message is added before %s is whole', async (command) => {
    proxy.within(command, () => chat.say(alice));
    const page = await caughtUp(seq(5));
    expect(page.news).toEqual(command === 'ZRANGE' || command === 'ZRANGEBYLEX' ? [6, 7] : [6]);
    expect(damages).toEqual([]);
  });
});

describe('retention itself', () => {
  beforeEach(() => chat.sayTimes(alice, 5));

  test('to which a message is added before its step keeps the newest one', async () => {
    proxy.once('EVALSHA', () => chat.say(alice, 'newest'));
    expect(await retain(read, 0)).toEqual({ removed: 6, more: false });
    expect(await chat.sequences(bob)).toEqual([7]);
    expect((await chat.record(7)).status).toBe(MessageStatus.Deleted);
    expect(redos).toBe(0);
  });

  test('whose newest is edited before its step erases the edit', async () => {
    proxy.once('EVALSHA', () => chat.edit(6, APART));
    expect(await retain(read, 0)).toEqual({ removed: 5, more: false });
    expect(await chat.record(6)).toMatchObject({ status: MessageStatus.Deleted, revision: 2, content: { kind: 'none' } });
  });

  test('before which another has removed a part removes the rest', async () => {
    proxy.once('EVALSHA', () => retain(chat, 4));
    expect(await retain(read, 2)).toEqual({ removed: 2, more: false });
    expect(await chat.sequences(bob)).toEqual([5, 6]);
  });

  test('to which messages are added before its step removes what it had judged', async () => {
    proxy.once('EVALSHA', () => chat.sayTimes(alice, 3));
    expect(await retain(read, 2)).toEqual({ removed: 4, more: false });
    expect(await chat.sequences(bob)).toEqual([5, 6, 7, 8, 9]);
  });

  test('that never meets a quiet moment gives up, and has removed nothing', async () => {
    let edits = 0;
    proxy.before = async (sent) => {
      edits += 1;
      if (sent.includes('EVALSHA')) await chat.edit(6, `edit ${edits}`);
    };
    await refusedWith(retain(read, 0), 'Aborted');
    proxy.before = () => {};
    expect(await chat.sequences(bob)).toEqual([1, 2, 3, 4, 5, 6]);
  });
});
