/**
 * Another server takes the writes: a restart that lost nothing is only noted; after anything else the conversations come
 * into a new epoch, so that no (epoch, sequence) names two messages and no new message hides below an old watermark.
 */
import { type ConversationSeq, MessageStatus, SEQ_ZERO, SEQUENCES_SKIPPED_AFTER_LOSS as SKIPPED, type UserId } from '@qim/proto';
import { afterEach, describe, expect, test } from 'vitest';
import { KeySpace } from '../src/redis/keys.js';
import { openRedisMaintenance } from '../src/redis/maintenance.js';
import type { OpenedBackend } from '../src/testing/conformance/backend.js';
import { type Chat, Fixture, seq } from '../src/testing/conformance/fixture.js';
import type { RedisServerOptions } from '../src/testing/redis-server.js';
import { beginNewEpochs, type SkippedRange, verifyStore } from '../src/verify/index.js';
import { RedisPair, withRaw } from './redis-pair.js';
import { DEFAULTS } from './verify-harness.js';

const ALWAYS: RedisServerOptions = { appendonly: 'always' };
/** Ended by SIGTERM it has everything on disk, which qim cannot know. */
const EVERYSEC: RedisServerOptions = { appendonly: 'everysec' };
const KEYS = new KeySpace(64);

let pair: RedisPair;
let told: ('noted' | 'risen')[] = [];
let fixture: Fixture;
let alice: UserId;
let bob: UserId;

afterEach(() => pair.close());

async function start(options: RedisServerOptions, attached = true): Promise<Chat> {
  pair = await RedisPair.open(options, attached);
  const store = await pair.openStore({ observer: { takeOver: (kind) => told.push(kind) } });
  told = [];
  fixture = new Fixture({ store } as OpenedBackend);
  [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
  return fixture.direct(alice, bob);
}

const epochOf = async (chat: Chat): Promise<number> =>
  (await chat.messages.readConversation(chat.tenantId, chat.conversationId, bob)).facts?.epoch ?? 0;

/** What a device that holds `after` is told. */
function catchUp(chat: Chat, epoch: number, after: ConversationSeq | number) {
  const { tenantId, conversationId } = chat;
  const held = { epoch, after: seq(after), amendmentCursor: 0, clearedSeq: SEQ_ZERO, limit: 100 };
  return chat.messages.catchUp({ tenantId, conversationId, userId: bob, ...held });
}

async function unread(chat: Chat, watermark: number) {
  const { conversationId } = chat;
  const [summary] = await chat.messages.conversationSummaries(chat.tenantId, bob, [{ conversationId, watermark: seq(watermark) }]);
  return { head: summary?.latestConversationSeq, count: summary?.unreadCount, exact: summary?.unreadExact };
}

function partitionKey({ tenantId, conversationId }: Chat): string {
  return KEYS.conversation(tenantId, conversationId).guard[1];
}

describe('the same server, restarted', () => {
  test('with AOF always has lost nothing: it is noted, epoch and sequences go on', async () => {
    const chat = await start(ALWAYS, false);
    await chat.sayTimes(alice, 3);
    await pair.first.kill();
    await pair.restart(pair.first);
    expect(await chat.say(alice)).toMatchObject({ conversationSeq: 4, message: { epoch: 1 } });
    expect(told).toEqual(['noted']);
    expect(await unread(chat, 1)).toEqual({ head: 4, count: 3, exact: true });
  });

  test.each([
    ['everysec', EVERYSEC],
    ['always, and no flush while it rewrites', { appendonly: 'always', args: ['--no-appendfsync-on-rewrite', 'yes'] }],
  ] as const)('with AOF %s may have lost something: a new epoch, past all that may have been given', async (_, options) => {
    const chat = await start(options, false);
    await chat.sayTimes(alice, 3);
    await pair.first.kill('SIGTERM');
    await pair.restart(pair.first);
    const { conversationSeq, message } = await chat.say(alice);
    expect(conversationSeq).toBe(3 + SKIPPED + 1);
    expect(message?.epoch).toBeGreaterThan(1);
    expect(told).toEqual(['risen']);
  });

  test('that was set to always only now may have lost something before', async () => {
    const chat = await start(EVERYSEC, false);
    await chat.say(alice);
    await pair.first.kill('SIGTERM');
    await pair.first.restart(['--appendfsync', 'always']);
    await pair.reachable();
    expect((await chat.say(alice)).message?.epoch).toBeGreaterThan(1);
  });

  test('that had a replica cannot be told from it: a new epoch, with AOF always too', async () => {
    const chat = await start(ALWAYS);
    await chat.say(alice);
    await pair.first.kill();
    await pair.restart(pair.first);
    expect((await chat.say(alice)).message?.epoch).toBeGreaterThan(1);
  });

  test('without what it stored begins with an epoch that nobody has seen', async () => {
    const chat = await start({ appendonly: 'no' }, false);
    await chat.sayTimes(alice, 2);
    await pair.first.kill();
    await pair.restart(pair.first);
    const { conversationSeq, created, message } = await chat.say(alice);
    expect({ conversationSeq, created }).toEqual({ conversationSeq: SKIPPED + 1, created: true });
    expect(message?.epoch).toBeGreaterThan(1);
  });
});

describe('a replica that was promoted', () => {
  test('and lagged: no sequence is given twice, devices begin anew, and what is new is not hidden', async () => {
    const chat = await start(ALWAYS);
    await chat.sayTimes(alice, 3);
    await pair.caughtUp();
    pair.lag();
    await chat.sayTimes(alice, 2);
    await pair.promote();

    expect(await catchUp(chat, 1, 5)).toEqual({ kind: 'reset', epoch: 1 });
    const { conversationSeq, message } = await chat.say(alice, 'after');
    expect(conversationSeq).toBe(3 + SKIPPED + 1);
    const epoch = message?.epoch ?? 0;
    expect(epoch).toBeGreaterThan(1);
    expect(await epochOf(chat)).toBe(epoch);
    for (const held of [3, 5]) expect(await catchUp(chat, 1, held)).toEqual({ kind: 'reset', epoch });
    // Bob had read all five before; what is new counts, and since it is far away the count says that it is not exact.
    expect(await unread(chat, 5)).toEqual({ head: conversationSeq, count: 200, exact: false });
    const history = await chat.history(bob);
    expect(history.records.map(({ conversationSeq: at }) => at)).toEqual([1, 2, 3, conversationSeq]);
    expect(told).toEqual(['risen']);
  });

  test('and lagged behind an amendment: the next one has an epoch of its own, so that no cursor hides it', async () => {
    const chat = await start(ALWAYS);
    await chat.sayTimes(alice, 2);
    await pair.caughtUp();
    pair.lag();
    await chat.edit(1, 'lost');
    await pair.promote();
    await chat.edit(2, 'new');
    const epoch = await epochOf(chat);
    expect(epoch).toBeGreaterThan(1);
    expect(await catchUp(chat, 1, 2)).toEqual({ kind: 'reset', epoch });
    expect((await chat.say(alice)).conversationSeq).toBe(2 + SKIPPED + 1);
  });

  test('and retention comes first: the same', async () => {
    const chat = await start(ALWAYS);
    await chat.sayTimes(alice, 3);
    await pair.caughtUp();
    await pair.promote();
    const { tenantId, conversationId } = chat;
    await chat.messages.retain(tenantId, conversationId, { olderThanMs: undefined, keepNewest: 0 });
    expect(await epochOf(chat)).toBeGreaterThan(1);
    expect((await chat.history(bob)).records).toMatchObject([{ conversationSeq: 3, status: MessageStatus.Deleted }]);
    expect((await chat.say(alice)).conversationSeq).toBe(3 + SKIPPED + 1);
  });

  test('by a restart that leaves no trace of its past', async () => {
    const chat = await start(ALWAYS);
    await chat.say(alice);
    await pair.caughtUp();
    await pair.first.kill();
    await pair.second.kill();
    await pair.second.restart();
    await pair.use(pair.second);
    expect((await chat.say(alice)).message?.epoch).toBeGreaterThan(1);
  });

  test('before it knew more than its first copy: the epochs differ', async () => {
    const chat = await start(ALWAYS, false);
    await chat.say(alice);
    await pair.attach();
    pair.lag();
    const lost = await chat.say(alice, 'lost');
    // With the first replica a new epoch begins, so that the copy is of the one before.
    expect(lost.message?.epoch).toBeGreaterThan(1);
    await pair.first.kill();
    await pair.second.kill();
    await pair.second.restart();
    await pair.use(pair.second);
    const again = await chat.say(alice, 'other');
    expect(again.message?.epoch).not.toBe(lost.message?.epoch);
    expect(await catchUp(chat, lost.message?.epoch ?? 0, lost.conversationSeq)).toMatchObject({ kind: 'reset' });
  });

  test('and that its former primary takes over from again is noticed by the same run_id', async () => {
    const chat = await start(ALWAYS);
    await chat.say(alice);
    await pair.caughtUp();
    pair.lag();
    await chat.say(alice, 'lost when it became a replica');
    const port = (server: { port: number }): string => String(server.port);
    await withRaw(pair.second, (raw) => raw.sendCommand(['REPLICAOF', 'NO', 'ONE']));
    await withRaw(pair.first, (raw) => raw.sendCommand(['REPLICAOF', '127.0.0.1', port(pair.second)]));
    await pair.inStep(pair.first);
    await withRaw(pair.first, (raw) => raw.sendCommand(['REPLICAOF', 'NO', 'ONE']));
    await pair.use(pair.first);
    const { conversationSeq, message } = await chat.say(alice);
    expect(conversationSeq).toBe(1 + SKIPPED + 1);
    expect(message?.epoch).toBeGreaterThan(1);
  });
});

describe('after a take-over', () => {
  async function takenOver(): Promise<Chat> {
    const chat = await start(EVERYSEC, false);
    await chat.sayTimes(alice, 2);
    await pair.first.kill('SIGTERM');
    await pair.restart(pair.first);
    return chat;
  }

  test('only the first write of a conversation leaves out sequences, whichever of those that wait together it is', async () => {
    const chat = await takenOver();
    const together = await Promise.all([chat.say(alice), chat.say(bob), chat.say(alice)]);
    expect(together.map(({ conversationSeq }) => conversationSeq - SKIPPED)).toEqual([3, 4, 5]);
    expect(new Set(together.map(({ message }) => message?.epoch)).size).toBe(1);
    expect((await chat.say(bob)).conversationSeq).toBe(SKIPPED + 6);
    expect(told).toEqual(['risen']);
  });

  test('what was left out is noted beside the conversation', async () => {
    const chat = await takenOver();
    const { message } = await chat.say(alice);
    const { reserved } = KEYS.conversation(chat.tenantId, chat.conversationId);
    const stored = await withRaw(pair.first, (raw) => raw.sendCommand<Buffer[]>(['HGETALL', reserved]));
    expect(stored.map(String)).toEqual([String(message?.epoch), `3 ${2 + SKIPPED}`]);
  });

  test('a retry of what was kept is a duplicate with its old sequence, and writes nothing', async () => {
    const chat = await start(EVERYSEC, false);
    const request = chat.request(alice);
    await chat.messages.commit(request);
    await pair.first.kill('SIGTERM');
    await pair.restart(pair.first);
    expect(await chat.messages.commit(request)).toMatchObject({ duplicate: true, conversationSeq: 1, message: { epoch: 1 } });
    expect(await epochOf(chat)).toBe(1);
  });

  test('a conversation that is made now counts from its first record', async () => {
    await takenOver();
    const carol = fixture.user('carol');
    const chat = fixture.direct(alice, carol);
    const { conversationSeq } = await chat.say(alice);
    expect(conversationSeq).toBe(SKIPPED + 1);
    const { member } = await chat.messages.readConversation(chat.tenantId, chat.conversationId, carol);
    expect(member).toMatchObject({ joinedSeq: conversationSeq, visibleFrom: 1 });
    expect(await unread(chat, conversationSeq - 1)).toEqual({ head: conversationSeq, count: 1, exact: true });
  });

  test('a second process writes in the same epoch', async () => {
    const chat = await takenOver();
    const { message } = await chat.say(alice);
    const other = await pair.openStore();
    const outcome = await other.messages.commit(chat.request(bob));
    expect(outcome.message?.epoch).toBe(message?.epoch);
    expect(outcome.conversationSeq).toBe(SKIPPED + 4);
  });

  test('the note says which server it was', async () => {
    const chat = await takenOver();
    await chat.say(alice);
    await withRaw(pair.first, async (raw) => {
      const fields = ['runId', 'flush', 'node', 'replicas'];
      const stored = await raw.sendCommand<Buffer[]>(['HMGET', partitionKey(chat), ...fields]);
      const runId = /^run_id:(\w+)/m.exec(String(await raw.sendCommand(['INFO', 'server'])))?.[1];
      expect(stored.map(String)).toEqual([runId, '', '', '0']);
    });
  });
});

test('each failover has an epoch that no other ever had, also when both servers took over from the same one', async () => {
  const chat = await start(ALWAYS);
  await chat.say(alice);
  await pair.caughtUp();
  pair.lag();
  // The first one goes on for itself after a restart; the second one knows nothing of it.
  await pair.first.kill();
  await pair.restart(pair.first);
  const there = await chat.say(alice, 'on the first');
  await pair.promote();
  const here = await chat.say(alice, 'on the second');
  expect(here.message?.epoch).not.toBe(there.message?.epoch);
  expect(await catchUp(chat, there.message?.epoch ?? 0, 1)).toMatchObject({ kind: 'reset' });
});

test('a restored backup looks like its server, until it is said: then a new epoch begins', async () => {
  const chat = await start(ALWAYS, false);
  await chat.sayTimes(alice, 2);
  const { scanner, mender, close } = await openRedisMaintenance(pair.first.url);
  expect(await beginNewEpochs(scanner, mender, Date.now)).toEqual({ of: 'partitions', begun: 64, left: 0 });
  const { conversationSeq, message } = await chat.say(alice);
  expect(conversationSeq).toBe(2 + SKIPPED + 1);
  const range = { epoch: message?.epoch, from: 3, through: 2 + SKIPPED };
  expect(await scanner.conversation(chat).skipped()).toEqual([range]);
  await close();
});

test('after a failover the verifier finds nothing, and lists what was left out', async () => {
  const chat = await start(ALWAYS);
  await chat.sayTimes(alice, 2);
  await pair.caughtUp();
  pair.lag();
  await chat.say(alice, 'lost');
  await pair.promote();
  await chat.say(alice);
  const { scanner, mender, close } = await openRedisMaintenance(pair.second.url);
  const skipped: SkippedRange[] = [];
  const { messages } = chat;
  const report = { ...DEFAULTS.report, skipped: (_: unknown, range: SkippedRange) => skipped.push(range) };
  const { counts } = await verifyStore({ messages, scanner, mender, exclusive: false }, { ...DEFAULTS, report });
  expect(counts.findings).toBe(0);
  expect(skipped).toEqual([{ epoch: await epochOf(chat), from: 3, through: 2 + SKIPPED }]);
  await close();
});

test('a partition without a note has lost it', async () => {
  const chat = await start(ALWAYS, false);
  await chat.say(alice);
  await withRaw(pair.first, (raw) => raw.sendCommand(['DEL', partitionKey(chat)]));
  expect((await chat.say(alice)).message?.epoch).toBeGreaterThan(1);
});
