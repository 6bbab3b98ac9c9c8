/** A primary of a Cluster dies under load, with --ack-replicas 1: nothing acknowledged is lost, and how long senders wait. */
import type { UserId } from '@qim/proto';
import { expect, test, vi } from 'vitest';
import { KeySpace } from '../src/redis/keys.js';
import { openRedisStore } from '../src/redis/open.js';
import type { OpenedBackend } from '../src/testing/conformance/backend.js';
import { type Chat, Fixture } from '../src/testing/conformance/fixture.js';
import { startRedisCluster } from '../src/testing/redis-cluster.js';
import { Senders } from './given-twice.js';

const KEYS = new KeySpace(64);
const NODE_TIMEOUT_MS = 3_000;
const PATIENCE = { timeout: 50_000, interval: 5 };
const CHATS = 3;
const BEFORE = 150;
const AFTER = 40;

test('a primary is killed under load: its replica takes over, and has everything that was acknowledged', async () => {
  const cluster = await startRedisCluster({ appendonly: 'everysec', nodeTimeoutMs: NODE_TIMEOUT_MS });
  const store = await openRedisStore(cluster.url, { ackReplicas: 1 });
  try {
    const fixture = new Fixture({ store } as OpenedBackend);
    const [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
    const chats = Array.from({ length: CHATS }, () => fixture.direct(alice, bob));
    const [first] = chats;
    const victim = await cluster.ownerOf(factsOf(first));
    const hit: Chat[] = [];
    for (const chat of chats) if ((await cluster.ownerOf(factsOf(chat))) === victim) hit.push(chat);
    const senders = new Senders();
    const end = new AbortController();
    const sending = chats.map((chat) => senders.send(store, () => chat.request(alice), end.signal));
    await until(() => senders.acknowledged.length >= BEFORE);

    const acknowledgedOf = () => senders.acknowledged.filter(({ request }) => hit.some((chat) => isOf(request, chat))).length;
    await victim.kill();
    const [killedAt, before] = [performance.now(), acknowledgedOf()];
    await vi.waitFor(async () => expect(await cluster.ownerOf(factsOf(first))).not.toBe(victim), PATIENCE);
    const promotedMs = Math.round(performance.now() - killedAt);
    // The new primary has no replica until the old one is back as one: until then nothing is acknowledged there.
    await victim.restart();
    await until(() => acknowledgedOf() > before + hit.length);
    const pauseMs = Math.round(performance.now() - killedAt);
    await until(() => acknowledgedOf() > before + AFTER);
    end.abort();
    await Promise.all(sending);

    console.log(
      `cluster failover: a new primary after ${promotedMs} ms (cluster-node-timeout ${NODE_TIMEOUT_MS} ms), senders waited ${pauseMs} ms`,
    );
    const again = await Promise.all([...senders.acknowledged].map(({ request }) => senders.commit(store, request)));
    expect(again.filter(({ duplicate }) => !duplicate)).toEqual([]);
    expect(senders.twice).toEqual([]);
    // Whether anything was lost cannot be known, so the conversations came into a new epoch.
    for (const chat of hit) expect(await epochOf(chat, bob)).toBeGreaterThan(1);
  } finally {
    await store.close();
    await cluster.stop();
  }
}, 180_000);

function factsOf(chat: Chat | undefined): string {
  if (chat === undefined) throw new Error('there are chats');
  return KEYS.conversation(chat.tenantId, chat.conversationId).facts;
}

function isOf(request: { readonly conversationId: string }, { conversationId }: Chat): boolean {
  return request.conversationId === conversationId;
}

async function epochOf(chat: Chat, user: UserId): Promise<number> {
  const { facts } = await chat.messages.readConversation(chat.tenantId, chat.conversationId, user);
  return facts?.epoch ?? 0;
}

function until(holds: () => boolean): Promise<void> {
  return vi.waitFor(() => expect(holds()).toBe(true), PATIENCE);
}
