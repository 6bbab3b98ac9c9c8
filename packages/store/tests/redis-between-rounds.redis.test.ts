/** What falls between two commands of one read, placed there on purpose: it is read once more, and damage is confirmed. */
import { HistoryVisibility, type UserId } from '@qim/proto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bucketOf, type ConversationKeys, KeySpace } from '../src/redis/keys.js';
import { openRedisStore } from '../src/redis/open.js';
import type { Store } from '../src/store.js';
import { Chat, Fixture, seq, TENANT, text } from '../src/testing/conformance/fixture.js';
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

const member = (n: number): Buffer => Buffer.from(n.toString(16).padStart(16, '0'), 'hex');

/** What retention does: removes the first records up to `last`, in one step. */
async function retain(last: number): Promise<void> {
  const all = Array.from({ length: last }, (_, i) => i + 1);
  await raw.sendCommand(['ZREM', keys.history, ...all.map(member)]);
  await raw.sendCommand(['HDEL', keys.records(0), ...all.map(String)]);
  await raw.sendCommand(['HDEL', keys.bodies(0), ...all.map(String)]);
  await raw.sendCommand(['HSET', keys.facts, 'retainedFrom', String(last + 1)]);
}

describe('a list', () => {
  test('whose window lost its beginning to retention between the rounds is read once more', async () => {
    await chat.sayTimes(alice, 5);
    proxy.once('msgrecord:', () => retain(3));
    expect(await read.unread(bob)).toEqual([3, true]);
    expect([redos, damages]).toEqual([1, []]);
  });

  test('that a message was recalled and another sent between the rounds shows the recall, and the other next time', async () => {
    await chat.sayTimes(alice, 3);
    proxy.once('msgrecord:', async () => {
      await chat.recall(3);
      await chat.say(alice);
    });
    expect(await read.unread(bob)).toEqual([2, true]);
    expect(await read.unread(bob)).toEqual([3, true]);
    expect(redos).toBe(0);
  });

  test('with a record that is gone for good is damage, after one more look, and its neighbours are read once', async () => {
    const other = await new Fixture(backend).group(alice, [bob]);
    await chat.sayTimes(alice, 3);
    await raw.sendCommand(['HDEL', keys.records(0), '3']);
    const states = [other, chat, other].map(({ conversationId }) => ({ conversationId, watermark: seq(0) }));
    const rounds: string[] = [];
    proxy.before = (sent) => void rounds.push(sent);
    const readings = await reader.messages.readConversations(TENANT, bob, states);
    proxy.before = () => {};
    expect(readings.map(({ kind }) => kind)).toEqual(['sound', 'damaged', 'sound']);
    expect([redos, damages]).toEqual([1, ['recordMissing']]);
    expect(rounds.map((sent) => sent.split(other.conversationId).length - 1)).toEqual([8, 2, 0, 0]);
  });

  test('that failed for a moment is right once the record is back', async () => {
    await chat.sayTimes(alice, 3);
    const [record = Buffer.alloc(0)] = await raw.sendCommand<Buffer[]>(['HMGET', keys.records(0), '3']);
    await raw.sendCommand(['HDEL', keys.records(0), '3']);
    // The third thing that is sent is the first round of the second look.
    let sends = 0;
    proxy.before = async () => {
      sends += 1;
      if (sends === 3) await raw.sendCommand(['HSET', keys.records(0), '3', record]);
    };
    expect(await read.unread(bob)).toEqual([3, true]);
    proxy.before = () => {};
    expect([redos, damages]).toEqual([1, []]);
  });
});

describe('history', () => {
  test('whose body was replaced between record and body is read again in one moment', async () => {
    await chat.say(alice, APART);
    const target = await chat.record(2);
    proxy.once('msgbody:', () => chat.amend(target, { content: text(`${APART}!`) }));
    const { records } = await read.history(bob);
    expect(records[1]?.content).toEqual(text(`${APART}!`));
    expect([redos, damages]).toEqual([0, []]);
  });

  test('whose body was erased between record and body shows the recall', async () => {
    await chat.say(alice, APART);
    const target = await chat.record(2);
    proxy.once('msgbody:', () => chat.amend(target, { status: 3, content: { kind: 'none' } }));
    const { records } = await read.history(bob);
    expect(records[1]).toMatchObject({ status: 3, content: { kind: 'none' } });
    expect([redos, damages]).toEqual([0, []]);
  });

  test('that lost its beginning to retention between the rounds is read once more', async () => {
    await chat.sayTimes(alice, 5);
    proxy.once('msgrecord:', () => retain(3));
    expect(await read.page(bob)).toEqual([[4, 5, 6], false]);
    proxy.once('msgrecord:', () => retain(4));
    expect(await read.page(bob, { position: { after: seq(0) } })).toEqual([[5, 6], false]);
    expect([redos, damages]).toEqual([2, []]);
  });

  test('of one who may see less than the page began with is asked for again from there', async () => {
    const late = await new Fixture(backend).group(alice, []);
    await late.sayTimes(alice, 3);
    await late.join(alice, bob);
    await late.say(alice);
    const through = new Chat(
      new Fixture({ store: reader, advance() {}, skipSequences: never, close: never }),
      TENANT,
      late.conversationId,
      undefined,
    );
    expect(await through.page(bob, { position: { after: seq(0) } })).toEqual([[5, 6], false]);
    expect(redos).toBe(1);
    expect(await through.page(bob, { position: { before: seq(6) } })).toEqual([[5], false]);
    expect(redos).toBe(1);
  });
});

describe('a single read', () => {
  test('whose body did not belong to its record is decided by one atomic read', async () => {
    await chat.say(alice, APART);
    const bodies = keys.bodies(bucketOf(2));
    const [body = Buffer.alloc(0)] = await raw.sendCommand<Buffer[]>(['HMGET', bodies, '2']);
    await raw.sendCommand(['HDEL', bodies, '2']);
    proxy.once('MULTI', () => raw.sendCommand(['HSET', bodies, '2', body]));
    expect((await read.record(2)).content).toEqual(text(APART));
    expect(damages).toEqual([]);
    await raw.sendCommand(['HDEL', bodies, '2']);
    await expect(read.record(2)).rejects.toMatchObject({ detail: { reason: 'bodyMissing', conversationSeq: 2 } });
    expect(damages).toEqual(['bodyMissing']);
  });
});
