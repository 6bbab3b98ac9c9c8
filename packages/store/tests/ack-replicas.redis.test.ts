/** --ack-replicas: what is acknowledged is with so many replicas; otherwise its outcome is unknown, and a retry waits anew. */
import { ACK_REPLICAS_MAX, type UserId } from '@qim/proto';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { CommitOutcome, CommitRequest } from '../src/message/message-store.js';
import { parseAddress } from '../src/redis/address.js';
import { KeySpace } from '../src/redis/keys.js';
import { NodeConnection } from '../src/redis/node-connection.js';
import { openRedisStore } from '../src/redis/open.js';
import { ReplicaAcks } from '../src/redis/replica-acks.js';
import type { OpenedBackend } from '../src/testing/conformance/backend.js';
import { type Chat, Fixture, refusedWith } from '../src/testing/conformance/fixture.js';
import { Senders } from './given-twice.js';
import { RedisPair, withRaw } from './redis-pair.js';

const KEYS = new KeySpace(64);
const SHORT_MS = 300;
const LONG_MS = 20_000;

let pair: RedisPair;
let fixture: Fixture;
let alice: UserId;
let bob: UserId;

afterEach(() => pair.close());

async function start(ackReplicasWaitMs: number, ackReplicas = 1): Promise<Chat> {
  pair = await RedisPair.open({ appendonly: 'always' });
  fixture = new Fixture({
    store: await pair.openStore({ ackReplicas, ackReplicasWaitMs, commandTimeoutMs: 2 * LONG_MS }),
  } as OpenedBackend);
  [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
  return fixture.direct(alice, bob);
}

/** As the replica has it. */
async function lastOnReplica({ tenantId, conversationId }: Chat): Promise<number> {
  const { facts } = KEYS.conversation(tenantId, conversationId);
  return Number(await withRaw(pair.second, (raw) => raw.sendCommand<Buffer | null>(['HGET', facts, 'lastSequence'])));
}

/** On a busy machine it may take the replica more than SHORT_MS: the same request waits again. */
function acknowledged(chat: Chat, request: CommitRequest): Promise<CommitOutcome> {
  return vi.waitFor(() => chat.messages.commit(request), { timeout: 60_000 });
}

describe('with one replica', () => {
  test('what is acknowledged is there', async () => {
    const chat = await start(LONG_MS);
    for (let n = 1; n <= 5; n += 1) {
      await chat.say(alice);
      expect(await lastOnReplica(chat)).toBe(n);
    }
    await chat.edit(5, 'edited');
    expect((await pair.openStore()).ackReplicas).toEqual({ wanted: 0, seen: 1 });
  });

  test('that lags: the outcome is unknown, and a retry of the same message waits again, and succeeds once it is there', async () => {
    const chat = await start(SHORT_MS);
    await acknowledged(chat, chat.request(alice));
    pair.lag();
    const request = chat.request(alice);
    await refusedWith(chat.messages.commit(request), 'StoreUnavailable');
    await refusedWith(chat.messages.commit(request), 'StoreUnavailable');
    await refusedWith(chat.edit(1, 'edited'), 'StoreUnavailable');
    expect(await lastOnReplica(chat)).toBe(1);
    pair.follow();
    expect(await acknowledged(chat, request)).toMatchObject({ duplicate: true, conversationSeq: 2 });
    expect(await lastOnReplica(chat)).toBe(2);
  });

  test('that lags: what is refused is refused at once', async () => {
    const chat = await start(LONG_MS);
    await chat.say(alice);
    pair.lag();
    await refusedWith(chat.say(fixture.user('carol')), 'NotMember');
  });

  test('commits of many conversations share their waits', async () => {
    await start(LONG_MS);
    const chats = Array.from({ length: 40 }, () => fixture.direct(alice, bob));
    const log = await pair.first.commandLog();
    await Promise.all(chats.map((chat) => chat.say(alice)));
    const waits = (await log.read()).filter(({ name }) => name === 'WAIT').length;
    log.close();
    expect(waits).toBeGreaterThan(0);
    expect(waits).toBeLessThan(chats.length / 2);
    for (const chat of chats) expect(await lastOnReplica(chat)).toBe(1);
  });

  test('the primary dies under load: everything acknowledged is on the promoted one', async () => {
    const chat = await start(SHORT_MS);
    const senders = new Senders();
    const stop = new AbortController();
    const sending = [alice, bob, alice].map((by) => senders.send(fixture.store, () => chat.request(by), stop.signal));
    await senders.until(50);
    await pair.first.kill();
    stop.abort();
    await Promise.all(sending);
    await pair.promote();
    const without = await openRedisStore(pair.second.url);
    for (const { request } of senders.acknowledged) expect(await without.messages.commit(request)).toMatchObject({ duplicate: true });
    await without.close();
  });
});

test('there are 0 to 16 of them', async () => {
  pair = await RedisPair.open({}, false);
  for (const ackReplicas of [-1, 0.5, ACK_REPLICAS_MAX + 1]) await refusedWith(pair.openStore({ ackReplicas }), 'InvalidArgument');
  const store = await pair.openStore({ ackReplicas: ACK_REPLICAS_MAX });
  expect(store.ackReplicas).toEqual({ wanted: ACK_REPLICAS_MAX, seen: 0 });
});

test('fewer replicas than wanted: nothing is acknowledged', async () => {
  const chat = await start(SHORT_MS, 2);
  await refusedWith(chat.say(alice), 'StoreUnavailable');
});

test('another server than the one that wrote cannot say that it is there', async () => {
  await start(LONG_MS);
  const acks = new ReplicaAcks({
    open: () => NodeConnection.open({ address: parseAddress(pair.first.url), name: 'test', timeoutMs: LONG_MS }),
    replicas: 1,
    waitMs: 1_000,
  });
  await refusedWith(acks.reached('0'.repeat(40), 'any'), 'StoreUnavailable');
  const id = await withRaw(
    pair.first,
    async (raw) => /^master_replid:(\w+)/m.exec(String(await raw.sendCommand(['INFO', 'replication'])))?.[1],
  );
  await acks.reached(id ?? '', 'any');
  await acks.close();
});
