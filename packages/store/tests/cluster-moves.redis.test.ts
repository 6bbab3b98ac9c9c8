/**
 * Slots that move and primaries that go, in the middle of pages and commits: each ends in the right answer or in
 * StoreUnavailable, and once the Cluster is whole again every acknowledged message is there once, and in order.
 */
import { HistoryVisibility, isQimError, MessageStatus, type UserId } from '@qim/proto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { CommitRequest } from '../src/message/message-store.js';
import { KeySpace, userKeys } from '../src/redis/keys.js';
import { openRedisStore } from '../src/redis/open.js';
import type { Store } from '../src/store.js';
import { type Chat, Fixture, seq, TENANT } from '../src/testing/conformance/fixture.js';
import { type RedisCluster, startRedisCluster } from '../src/testing/redis-cluster.js';
import type { RedisServer } from '../src/testing/redis-server.js';

/** Enough for a slow machine not to lose a primary that lives, and little to wait for one that does not. */
const NODE_TIMEOUT_MS = 2_500;
const WAIT = { timeout: 55_000, interval: 50 };
const NEVER = new AbortController().signal;
const keySpace = new KeySpace(64);
let cluster: RedisCluster;
let store: Store;
let fixture: Fixture;
let alice: UserId;
let bob: UserId;

beforeAll(async () => {
  cluster = await startRedisCluster({ nodeTimeoutMs: NODE_TIMEOUT_MS });
});
afterAll(() => cluster.stop());

beforeEach(() => openWith(undefined));
afterEach(() => store.close());

async function openWith(commandTimeoutMs: number | undefined): Promise<void> {
  store = await openRedisStore(cluster.url, commandTimeoutMs === undefined ? {} : { commandTimeoutMs });
  fixture = new Fixture({ store, advance() {}, skipSequences: never, close: never });
  [alice, bob] = [fixture.user('alice'), fixture.user('bob')];
}

/** For calls that shall fail soon. Opening is a matter of many calls, and tried until it is done. */
async function impatient(): Promise<void> {
  await store.close();
  await vi.waitFor(() => openWith(400), WAIT);
}

function never(): Promise<never> {
  throw new Error('not used here');
}

/** A sender who asks again, with the same id, for what it does not know the outcome of. */
class Sender {
  readonly acknowledged: string[] = [];
  unavailable = 0;
  readonly #chat: Chat;
  #open: CommitRequest | undefined;
  #said = 0;

  constructor(chat: Chat) {
    this.#chat = chat;
  }

  async say(): Promise<void> {
    if (this.#open === undefined) {
      this.#said += 1;
      this.#open = this.#chat.request(alice, `text ${this.#said}`);
    }
    try {
      await store.messages.commit(this.#open);
      this.#open = undefined;
      this.acknowledged.push(`text ${this.#said}`);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      this.unavailable += 1;
    }
  }

  /** Until what is open is known. */
  async settle(): Promise<void> {
    await vi.waitFor(async () => {
      if (this.#open !== undefined) await this.say();
      expect(this.#open).toBeUndefined();
    }, WAIT);
  }
}

function isUnavailable(error: unknown): boolean {
  return isQimError(error) && error.code === 'StoreUnavailable';
}

/** What the answer is, or undefined when there is none now. Damage is an answer, and thrown. */
async function unlessUnavailable<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isUnavailable(error)) return undefined;
    throw error;
  }
}

async function texts(chat: Chat): Promise<string[]> {
  const { records } = await chat.history(bob);
  return records.flatMap(({ content }) => (content.kind === 'text' ? [content.text] : []));
}

function elsewhere(owner: RedisServer): RedisServer {
  const other = cluster.primaries.find((node) => node !== owner);
  if (other === undefined) throw new Error('there are others');
  return other;
}

async function scene(): Promise<{ readonly chat: Chat; readonly facts: string; readonly owner: RedisServer }> {
  const chat = await fixture.group(alice, [bob], { historyVisibility: HistoryVisibility.All });
  const { facts } = keySpace.conversation(TENANT, chat.conversationId);
  return { chat, facts, owner: await cluster.ownerOf(facts) };
}

describe('while a slot moves', () => {
  test('key by key, each page is right, and a commit is done once or not at all', async () => {
    await impatient();
    const { chat, facts, owner } = await scene();
    await chat.sayTimes(alice, 2);
    await chat.edit(2, 'x'.repeat(3_000));
    const sender = new Sender(chat);
    await cluster.moveSlot(facts, elsewhere(owner), async () => {
      expect(await chat.unread(bob)).toEqual([2 + sender.acknowledged.length, true]);
      expect((await texts(chat)).slice(2)).toEqual(sender.acknowledged);
      expect((await chat.record(2)).status).toBe(MessageStatus.Edited);
      await sender.say();
    });
    // Its keys were apart for some time.
    expect(sender.unavailable).toBeGreaterThan(0);
    await sender.settle();
    expect((await texts(chat)).slice(2)).toEqual(sender.acknowledged);
    expect(await cluster.ownerOf(facts)).not.toBe(owner);
  });

  test('at once, whoever reads or sends has an answer', async () => {
    const { chat, facts, owner } = await scene();
    const sender = new Sender(chat);
    let moving = true;
    const moved = cluster.moveSlot(facts, elsewhere(owner)).finally(() => {
      moving = false;
    });
    while (moving) {
      await sender.say();
      expect(await texts(chat)).toEqual(sender.acknowledged);
      // Another server takes the writes, so sequences may have been left out.
      expect((await chat.unread(bob))[0]).toBeGreaterThanOrEqual(sender.acknowledged.length);
    }
    await moved;
    await sender.say();
    expect(await texts(chat)).toEqual(sender.acknowledged);
    expect(sender.unavailable).toBe(0);
  });

  test("with a user's list, a page is whole or there is none", async () => {
    await impatient();
    const chats = await Promise.all(Array.from({ length: 3 }, () => scene()));
    for (const { chat } of chats) {
      const joined = [{ userId: bob, joinedSeq: seq(1), visibleFrom: seq(1) }];
      await store.directory.join(TENANT, chat.conversationId, joined, { conversationSeq: seq(1), activityAtMs: 5 });
      await store.directory.raiseRead(TENANT, bob, chat.conversationId, seq(1));
    }
    const { view } = userKeys(TENANT, bob);
    let whole = 0;
    await cluster.moveSlot(view, elsewhere(await cluster.ownerOf(view)), async () => {
      const page = await unlessUnavailable(store.directory.page(TENANT, bob, 10, undefined));
      if (page === undefined) return;
      whole += 1;
      expect(page.views.map(({ readSeq }) => readSeq)).toEqual([1, 1, 1]);
    });
    expect(whole).toBeGreaterThan(0);
    expect((await store.directory.page(TENANT, bob, 10, undefined)).views).toHaveLength(3);
  });

  test('a read of the outbox that waits in it hears what comes later', async () => {
    const { chat, facts, owner } = await scene();
    const { partition, outbox } = keySpace.conversation(TENANT, chat.conversationId);
    const lease = await store.outbox.acquire(partition, 'test', 600_000);
    if (lease === undefined) throw new Error('nobody else has it');
    for (;;) {
      const { entries } = await store.outbox.read([lease], 0, NEVER);
      if (entries.length === 0) break;
      await store.outbox.acknowledge(
        lease,
        entries.map(({ entryId }) => entryId),
      );
    }
    const reading = store.outbox.read([lease], 50_000, NEVER);
    await vi.waitFor(async () => expect(String(await cluster.command(owner, 'CLIENT', 'LIST'))).toContain('cmd=xreadgroup'), WAIT);
    await cluster.moveSlot(outbox, elsewhere(owner));
    await chat.say(alice);
    const { entries } = await reading;
    expect(entries.map(({ kind, conversationId }) => [kind, conversationId])).toEqual([['committed', chat.conversationId]]);
    await store.outbox.release(lease);
    expect(await cluster.ownerOf(facts)).not.toBe(owner);
  });

  test('a walk over all conversations says that it must begin again, and is whole when nothing moves', async () => {
    const scenes = await Promise.all(Array.from({ length: 12 }, () => scene()));
    const walk = async (between: () => Promise<void>): Promise<Set<string>> => {
      const met = new Set<string>();
      let cursor: string | undefined;
      do {
        const page = await store.messages.conversations(cursor, 1);
        for (const { conversationId } of page.conversations) met.add(conversationId);
        cursor = page.next;
        await between();
      } while (cursor !== undefined);
      return met;
    };
    const met = await walk(async () => {});
    for (const { chat } of scenes) expect(met).toContain(chat.conversationId);
    const [first] = scenes;
    if (first === undefined) throw new Error('there is one');
    let moved = false;
    const disturbed = walk(async () => {
      if (moved) return;
      moved = true;
      await cluster.moveSlot(first.facts, elsewhere(await cluster.ownerOf(first.facts)));
    });
    await expect(disturbed).rejects.toThrow('begin again');
  });
});

describe('when a primary goes', () => {
  /** Who serves the conversation now, and which of its shard will when it goes. */
  async function shardOf(facts: string): Promise<{ readonly primary: RedisServer; readonly replica: RedisServer }> {
    const primary = await cluster.ownerOf(facts);
    const at = cluster.primaries.indexOf(primary);
    const replica = at < 0 ? cluster.primaries[cluster.replicas.indexOf(primary)] : cluster.replicas[at];
    if (replica === undefined) throw new Error('each has a replica');
    await vi.waitFor(async () => expect(String(await cluster.command(replica, 'INFO', 'replication'))).toContain('link_status:up'), WAIT);
    return { primary, replica };
  }

  test('because it hands over to its replica, nothing acknowledged is lost and sending goes on', async () => {
    const { chat, facts } = await scene();
    const { replica } = await shardOf(facts);
    const sender = new Sender(chat);
    await sender.say();
    await cluster.command(replica, 'CLUSTER', 'FAILOVER');
    await vi.waitFor(async () => {
      await sender.say();
      const seen = await unlessUnavailable(texts(chat));
      if (seen !== undefined) expect(seen.slice(0, sender.acknowledged.length)).toEqual(sender.acknowledged);
      expect(await cluster.ownerOf(facts)).toBe(replica);
    }, WAIT);
    await sender.settle();
    await sender.say();
    await sender.settle();
    expect(await texts(chat)).toEqual(sender.acknowledged);
  });

  test('by SIGKILL, pages and commits end in an answer or in StoreUnavailable, and go on at the replica', async () => {
    const { chat, facts } = await scene();
    const { primary, replica } = await shardOf(facts);
    const sender = new Sender(chat);
    await sender.say();
    await sender.say();
    // What was acknowledged is at the replica before the primary dies: what else is lost is told in docs/durability.md.
    await vi.waitFor(async () => expect(await cluster.command(primary, 'WAIT', '1', '500')).toBe(1), WAIT);
    await primary.kill();
    await vi.waitFor(async () => {
      await sender.say();
      const seen = await unlessUnavailable(texts(chat));
      if (seen !== undefined) expect(seen.slice(0, sender.acknowledged.length)).toEqual(sender.acknowledged);
      expect(await cluster.ownerOf(facts)).toBe(replica);
    }, WAIT);
    await sender.settle();
    await sender.say();
    await sender.settle();
    expect(await texts(chat)).toEqual(sender.acknowledged);
    expect(sender.acknowledged.length).toBeGreaterThan(2);
    await vi.waitFor(() => store.ping(), WAIT);
  });
});
