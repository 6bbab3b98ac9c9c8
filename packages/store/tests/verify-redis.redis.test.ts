/** What can only be wrong on Redis: types of keys, names of fields, buckets where nothing looks. */
import { COMMIT_PARTITIONS_DEFAULT, FSCK_BUCKETS_SPAN_MAX, RECORD_BUCKET_SIZE } from '@qim/proto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { KeySpace, userKeys } from '../src/redis/keys.js';
import { openRedisMaintenance } from '../src/redis/maintenance.js';
import { type Chat, seq, TENANT } from '../src/testing/conformance/fixture.js';
import { startRedis } from '../src/testing/redis-server.js';
import { type RawClient, RedisBackend, rawClient } from './redis-backend.js';
import { REDIS } from './verify-backends.js';
import { Subject, type Verified } from './verify-harness.js';

const SPACE = new KeySpace(COMMIT_PARTITIONS_DEFAULT);

let subject: Subject;
let raw: RawClient;
let chat: Chat;
const keys = () => SPACE.conversation(chat.tenantId, chat.conversationId);

beforeAll(async () => {
  subject = await Subject.open(REDIS);
  if (!(subject.backend instanceof RedisBackend)) throw new Error('it is on Redis');
  raw = await rawClient(subject.backend.server.url);
});
afterAll(async () => {
  raw.destroy();
  await subject.backend.close();
});
beforeEach(async () => {
  // What says that this server takes the writes stays, as it does where only what is stored is lost.
  const stays = new Set(['qim:deployment', ...SPACE.allPartitions()]);
  const goes = ((await raw.sendCommand(['KEYS', '*'])) as unknown as Buffer[]).map(String).filter((key) => !stays.has(key));
  if (goes.length > 0) await raw.sendCommand(['DEL', ...goes]);
  chat = subject.fixture.direct(subject.alice, subject.bob);
  await chat.sayTimes(subject.alice, 3);
  await subject.list(chat);
});

const mends = (...found: string[]): Promise<Verified> => subject.mends({}, found);

describe('a key of another type', () => {
  test.each([
    ['facts', () => keys().facts, ['factsMissing']],
    ['members', () => keys().members, []],
    ['records', () => keys().records(0), ['recordMissing@1', 'recordMissing@2', 'recordMissing@3']],
    ['bodies', () => keys().bodies(0), []],
    ['amendments', () => keys().amendments, []],
    ['reactions', () => keys().reactions, []],
  ] as const)('of %s is put aside, and what it hid is mended', async (_, keyOf, then) => {
    await raw.sendCommand(['DEL', keyOf()]);
    await raw.sendCommand(['RPUSH', keyOf(), 'a', 'b']);
    const { mended } = await mends('wrongType');
    expect(mended.map(([place]) => place)).toEqual(expect.arrayContaining(['wrongType', ...then]));
    const [aside] = await subject.quarantine(chat);
    expect(aside?.code).toBe('wrongType');
    await raw.sendCommand(['RESTORE', 'restored', '0', aside?.bytes ?? '']);
    expect(await raw.sendCommand(['LRANGE', 'restored', '0', '-1'])).toEqual([Buffer.from('a'), Buffer.from('b')]);
  });

  test.each(['conversations', 'read', 'view', 'pins', 'profile', 'blocks', 'webPush'] as const)(
    'of the user: %s is taken away, and the list is made again',
    async (name) => {
      const key = userKeys(TENANT, subject.bob)[name];
      await raw.sendCommand(['DEL', key]);
      await raw.sendCommand(name === 'profile' ? ['RPUSH', key, 'something'] : ['SET', key, 'something']);
      await subject.deliverAll();
      expect((await subject.verify()).places).toContain('wrongType/bob');
      expect((await subject.verify({ repair: 'yes' })).left).toEqual([]);
      expect((await subject.verify()).places).toEqual([]);
      const { views } = await subject.backend.store.directory.page(TENANT, subject.bob, 10, undefined);
      expect(views.map(({ conversationId }) => conversationId)).toEqual([chat.conversationId]);
    },
  );
});

test('a key of suspensions of another type is told and left: the user is refused until a person decides', async () => {
  await raw.sendCommand(['SET', userKeys(TENANT, subject.bob).suspended, 'something']);
  expect((await subject.verify({ repair: 'yes' })).left).toMatchObject([['wrongType/bob', expect.stringContaining('removed by hand')]]);
  await expect(subject.backend.store.users.isSuspended(TENANT, subject.bob, undefined)).rejects.toMatchObject({ code: 'StoreUnavailable' });
});

describe('a name that is none', () => {
  test('among records and bodies is put aside', async () => {
    await raw.sendCommand(['HSET', keys().records(0), '007', 'bytes', '300', 'of another bucket']);
    await raw.sendCommand(['HSET', keys().bodies(0), 'x', 'a body']);
    await mends('recordLeftOver', 'recordLeftOver', 'bodyLeftOver');
    expect((await subject.quarantine(chat)).map(({ bytes }) => bytes?.toString()).sort()).toEqual(['a body', 'bytes', 'of another bucket']);
  });

  test('in the index goes', async () => {
    await raw.sendCommand(['ZADD', keys().history, '0', 'longer than a sequence', '0', Buffer.alloc(8), '5', 'x']);
    await mends('indexMemberInvalid', 'indexMemberInvalid', 'indexMemberInvalid');
    expect(await raw.sendCommand(['ZCARD', keys().history])).toBe(3);
  });

  test('among amendments, and a number that is none or is given twice, goes', async () => {
    await chat.edit(1, 'edited');
    await chat.edit(2, 'edited');
    const [first, second] = await raw.sendCommand<Buffer[]>(['ZRANGE', keys().amendments, '0', '-1']);
    await raw.sendCommand(['ZADD', keys().amendments, '1', second ?? '', '1.5', Buffer.alloc(8, 1), '7', 'short']);
    expect([...(await subject.verify()).places].sort()).toEqual(['amendmentWrong', 'amendmentWrong', 'amendmentWrong@2']);
    expect((await subject.verify({ repair: 'yes' })).left).toEqual([]);
    expect((await subject.verify()).places).toEqual([]);
    expect(await raw.sendCommand(['ZSCORE', keys().amendments, first ?? ''])).toEqual(Buffer.from('1'));
    expect((await subject.facts(chat)).amendmentNumber).toBe(3);
  });

  test('among de-duplication entries goes', async () => {
    const [key] = await raw.sendCommand<Buffer[]>(['KEYS', 'msgdedup:*']);
    const [, value] = await raw.sendCommand<Buffer[]>(['HGETALL', key ?? '']);
    await raw.sendCommand(['HSET', key ?? '', 'no parts', value ?? '', 'a:b', value ?? '']);
    const { found } = await mends('dedupLeftOver@1', 'dedupLeftOver@1/a');
    expect(found.every(({ what }) => what.includes('is another'))).toBe(true);
  });

  test('among what a user has goes', async () => {
    const own = userKeys(TENANT, subject.bob);
    await raw.sendCommand(['HSET', own.view, 'no id!', '1 1 0 0 1 0 1']);
    await raw.sendCommand(['ZADD', own.conversations, '1', 'no id!', '-4', chat.conversationId]);
    await raw.sendCommand(['HSET', own.read, 'no id!', '1']);
    const { found } = await subject.verify();
    expect(found.map(({ code }) => code).sort()).toEqual(['listEntryWrong', 'listEntryWrong', 'readMarkLeftOver', 'viewLeftOver']);
    await subject.verify({ repair: 'yes' });
    expect((await subject.verify()).places).toEqual([]);
  });
});

describe('where nothing looks', () => {
  test('records far past the newest, and before what retention left, are found', async () => {
    await chat.skip(2_000);
    await chat.say(subject.alice);
    await chat.messages.retain(TENANT, chat.conversationId, { olderThanMs: undefined, keepNewest: 1 });
    await raw.sendCommand(['HSET', keys().records(900), String(900 * 256 + 1), 'far']);
    await raw.sendCommand(['HSET', keys().bodies(0), '2', 'old']);
    await mends('recordLeftOver@2', 'recordLeftOver@230401');
  });

  test('a conversation of which only a bucket is left goes, and a key under the tag of another partition is nobody’s', async () => {
    const foreign = 'msgrecord:{c000}:7:g_nowhere:0';
    await raw.sendCommand(['HSET', foreign, '1', 'bytes']);
    const gone = SPACE.conversation(TENANT, subject.fixture.conversationId()).records(0);
    await raw.sendCommand(['HSET', gone, '1', 'garbage']);
    await mends('recordLeftOver@1');
    expect(await raw.sendCommand(['EXISTS', gone, foreign])).toBe(1);
  });

  test('keys of others are neither reported nor touched', async () => {
    await raw.sendCommand(['SET', `${'hist'}:old`, 'garbage']);
    await raw.sendCommand(['SET', 'unread:bob', '5']);
    await raw.sendCommand(['LPUSH', 'convs:{not%zzvalid}', '5']);
    expect((await subject.verify({ repair: 'yes' })).places).toEqual([]);
    expect(await raw.sendCommand(['EXISTS', `${'hist'}:old`, 'unread:bob', 'convs:{not%zzvalid}'])).toBe(3);
  });
});

test('a conversation with many buckets is read bucket by bucket, holes and all', async () => {
  await chat.skip(5_000);
  await chat.sayTimes(subject.alice, 3);
  await raw.sendCommand(['ZADD', keys().history, '0', Buffer.from('0000000000000900', 'hex')]);
  await mends('indexMemberExtra@2304');
});

test('a conversation wider than FSCK_BUCKETS_SPAN_MAX is searched for among the keys', async () => {
  await chat.skip((FSCK_BUCKETS_SPAN_MAX - 2) * RECORD_BUCKET_SIZE);
  await chat.say(subject.alice);
  const newest = (await chat.summary(subject.bob)).latestConversationSeq;
  expect((await subject.verify()).places).toEqual([]);
  await chat.skip(2 * RECORD_BUCKET_SIZE);
  await chat.say(subject.alice);
  await raw.sendCommand(['HSET', keys().records(7), String(7 * RECORD_BUCKET_SIZE), 'garbage']);
  await subject.backend.damage({ ...chat, conversationSeq: seq(newest) }, 'recordMissing');
  await mends(`recordLeftOver@${7 * RECORD_BUCKET_SIZE}`, `recordMissing@${newest}`);
});

test('single facts that cannot be understood are made anew, and the others stand', async () => {
  const before = await subject.facts(chat);
  await raw.sendCommand(['HSET', keys().facts, 'title', 'kept', 'previewSequence', 'none', 'epoch', '40']);
  await mends('factsUnreadable');
  expect(await subject.facts(chat)).toMatchObject({
    ...before,
    title: 'kept',
    reservedThrough: expect.any(Number),
    epoch: expect.any(Number),
  });
  expect((await subject.quarantine(chat))[0]?.bytes?.toString()).toContain('"kept"');
});

test('commits and amendments go on while a conversation is mended', async () => {
  const { alice, bob } = subject;
  await subject.backend.damage({ tenantId: TENANT, conversationId: chat.conversationId, conversationSeq: seq(2) }, 'recordTruncated');
  let sending = true;
  const sent = (async () => {
    let count = 0;
    for (; sending; count += 1) await chat.say(alice);
    return count;
  })();
  const repaired = await subject.verify({ repair: 'yes' });
  sending = false;
  const count = await sent;
  expect(repaired.mended.map(([place]) => place)).toContain('recordUnreadable@2');
  expect((await subject.verify()).places).toEqual([]);
  expect(await chat.sequences(bob)).toHaveLength(3 + count);
});

test('a Redis that is no qim store is left as it is', async () => {
  const other = await startRedis();
  await expect(openRedisMaintenance(other.url)).rejects.toThrow('there is no qim store on this Redis');
  const client = await rawClient(other.url);
  expect(await client.sendCommand(['DBSIZE'])).toBe(0);
  client.destroy();
  await other.stop();
});
