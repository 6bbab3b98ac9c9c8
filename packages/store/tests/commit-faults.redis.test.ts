/**
 * A commit, and an amendment, is all or nothing: whichever call inside the script fails before the first write, whichever
 * key has a wrong type, and whatever the server refuses. What happens when it dies is in commit-crash.
 */
import { type CorruptReason, DEDUP_WEEK_MS, SEQUENCES_SKIPPED_AFTER_LOSS, type UserId } from '@qim/proto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bucketOf, type ConversationKeys, DEPLOYMENT_KEY, KeySpace } from '../src/redis/keys.js';
import { type Chat, refusedWith } from '../src/testing/conformance/fixture.js';
import { type RawClient, RedisBackend, rawClient } from './redis-backend.js';
import { APART, commandsOf, OPERATIONS, People, plantedFaults, plantFault, stored as storedIn, WRITES } from './redis-operations.js';

let backend: RedisBackend;
let raw: RawClient;
let people: People;
let alice: UserId;
let bob: UserId;
const keySpace = new KeySpace(64);

beforeAll(async () => {
  backend = await RedisBackend.open({ transformScript: plantedFaults, fastPaths: true });
  raw = await rawClient(backend.server.url);
});
afterAll(async () => {
  raw.destroy();
  await backend.close();
});

beforeEach(async () => {
  const keys = await raw.sendCommand<Buffer[]>(['KEYS', '*']);
  const kept = (key: string): boolean => key === DEPLOYMENT_KEY || key.startsWith('partition:');
  for (const key of keys.filter((each) => !kept(each.toString()))) await raw.sendCommand(['DEL', key]);
  people = new People(backend);
  ({ alice, bob } = people);
});

const stored = () => storedIn(raw);
const thisWeek = () => Math.floor(Date.now() / DEDUP_WEEK_MS);

function keysOf({ tenantId, conversationId }: Chat): ConversationKeys {
  return keySpace.conversation(tenantId, conversationId);
}

describe.each(OPERATIONS)('$name', ({ prepare }) => {
  test('reads every key that it writes before the first write', async () => {
    const { run } = await prepare(people);
    const calls = await commandsOf(backend, run);
    const firstWrite = calls.findIndex(({ name }) => WRITES.has(name));
    expect(firstWrite).toBeGreaterThan(0);
    const [reads, writes] = [calls.slice(0, firstWrite), calls.slice(firstWrite)];
    expect(writes.filter(({ name }) => !WRITES.has(name))).toEqual([]);
    const known = new Set(reads.map(({ key }) => key));
    expect(writes.filter(({ key }) => !known.has(key))).toEqual([]);
  });

  test('writes nothing when any call before the first write fails', async () => {
    const { run } = await prepare(people);
    const before = await stored();
    let at = 1;
    for (let wrote = false; !wrote; at += 1) {
      await plantFault(raw, at, 'throw');
      let failed = false;
      const calls = await commandsOf(backend, () => run().catch(() => (failed = true)));
      wrote = calls.some(({ name }) => WRITES.has(name));
      if (wrote) break;
      expect(failed, `a fault at call ${at} is told`).toBe(true);
      expect(await stored(), `after a fault at call ${at}`).toEqual(before);
    }
    expect(at).toBeGreaterThan(5);
  });
});

describe('a key of a wrong type', () => {
  const written: Readonly<Record<string, (keys: ConversationKeys) => string>> = {
    facts: (keys) => keys.facts,
    members: (keys) => keys.members,
    history: (keys) => keys.history,
    'de-duplication of this week': (keys) => keys.dedup(thisWeek()),
    'de-duplication of last week': (keys) => keys.dedup(thisWeek() - 1),
    'de-duplication of next week': (keys) => keys.dedup(thisWeek() + 1),
    outbox: (keys) => keys.outbox,
    records: (keys) => keys.records(0),
    bodies: (keys) => keys.bodies(0),
  };

  test.each(Object.entries(written))('%s: a commit says wrongType, and writes nothing', async (_, keyOf) => {
    const chat = people.direct();
    await chat.say(alice, APART);
    await raw.sendCommand(['SET', keyOf(keysOf(chat)), 'a string']);
    const before = await stored();
    await refusedAs(chat.say(bob, APART), 'wrongType');
    await refusedAs(Promise.all([chat.say(bob, APART), chat.say(alice, APART)]), 'wrongType');
    expect(await stored()).toEqual(before);
  });

  const amended = Object.entries(written).filter(([name]) => !name.startsWith('de-duplication'));
  amended.push(['amendments', (keys) => keys.amendments]);
  test.each(amended)('%s: an amendment says wrongType, and writes nothing', async (_, keyOf) => {
    const chat = people.direct();
    await chat.say(alice, APART);
    const target = await chat.record(1);
    await raw.sendCommand(['SET', keyOf(keysOf(chat)), 'a string']);
    const before = await stored();
    await refusedAs(chat.amend(target, { content: { kind: 'text', text: 'edited' } }), 'wrongType');
    expect(await stored()).toEqual(before);
  });

  test('the bucket after this one stops only the commits that fall into it', async () => {
    const chat = people.direct();
    await chat.say(alice);
    await chat.skip(253);
    await raw.sendCommand(['SET', keysOf(chat).records(1), 'a string']);
    const results = await Promise.allSettled([chat.say(bob), chat.say(bob), chat.say(bob)]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect((await chat.summary(alice)).latestConversationSeq).toBe(255);
  });
});

describe('what the place of a commit shows', () => {
  test.each(['records', 'bodies'] as const)('%s that stand there already are damage, and stay', async (kind) => {
    const chat = people.direct();
    await chat.say(alice);
    await raw.sendCommand(['HSET', keysOf(chat)[kind](bucketOf(2)), '2', 'something']);
    const before = await stored();
    await refusedAs(chat.say(bob, APART), 'recordUnexpected');
    expect(await stored()).toEqual(before);
  });

  test.each([
    ['history', 'ZADD', ['0', Buffer.from('0000000000000001', 'hex')]],
    ['members', 'HSET', ['someone', '1 1 1']],
  ] as const)('%s without facts is damage, and no conversation is made over it', async (kind, command, args) => {
    const chat = people.direct();
    await raw.sendCommand([command, keysOf(chat)[kind], ...args]);
    const before = await stored();
    await refusedAs(chat.say(alice), 'factsMissing');
    expect(await stored()).toEqual(before);
  });

  test.each(['lastSequence', 'reservedThrough', 'settings', 'kind', 'epoch', 'title'])('facts without %s are unreadable', async (field) => {
    const chat = people.direct();
    await chat.say(alice);
    await raw.sendCommand(['HDEL', keysOf(chat).facts, field]);
    const before = await stored();
    await refusedAs(chat.say(alice), 'factsUnreadable');
    expect(await stored()).toEqual(before);
  });

  test('a de-duplication entry of another size is damage', async () => {
    const chat = people.direct();
    const request = chat.request(alice);
    await backend.store.messages.commit(request);
    const [field = Buffer.alloc(0)] = await raw.sendCommand<Buffer[]>(['HKEYS', keysOf(chat).dedup(thisWeek())]);
    await raw.sendCommand(['HSET', keysOf(chat).dedup(thisWeek()), field, 'short']);
    await refusedAs(backend.store.messages.commit(request), 'dedupUnreadable');
  });
});

describe('what the server refuses', () => {
  test('a server without memory left takes nothing of a commit', async () => {
    const chat = people.direct();
    await chat.say(alice);
    await raw.sendCommand(['CONFIG', 'SET', 'maxmemory', '1']);
    const before = await stored();
    await refusedWith(chat.say(bob, APART), 'StoreUnavailable');
    expect(await stored()).toEqual(before);
    await raw.sendCommand(['CONFIG', 'SET', 'maxmemory', '0']);
    expect((await chat.say(bob)).conversationSeq).toBe(2);
  });

  test('a server that became a replica takes nothing of a commit', async () => {
    const chat = people.direct();
    await chat.say(alice);
    await raw.sendCommand(['REPLICAOF', '127.0.0.1', '1']);
    const before = await stored();
    await refusedWith(chat.say(bob), 'StoreUnavailable');
    expect(await stored()).toEqual(before);
    await raw.sendCommand(['REPLICAOF', 'NO', 'ONE']);
    // Whatever it was a replica of, it may not have all that it had before.
    expect((await chat.say(bob)).conversationSeq).toBe(1 + SEQUENCES_SKIPPED_AFTER_LOSS + 1);
  });
});

async function refusedAs(call: Promise<unknown>, reason: CorruptReason): Promise<void> {
  await expect(call).rejects.toMatchObject({ code: 'CorruptRecord', detail: { reason } });
}
