/** The wire of page reads: it answers what the ordinary connection answers, and hands on whatever it does not understand. */
import { type UserId, WIRE_PIECE_CONVERSATIONS } from '@qim/proto';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { KeySpace } from '../src/redis/keys.js';
import { openRedisStore } from '../src/redis/open.js';
import type { Store } from '../src/store.js';
import { type Chat, Fixture, seq, TENANT } from '../src/testing/conformance/fixture.js';
import { type RawClient, RedisBackend, rawClient } from './redis-backend.js';

let backend: RedisBackend;
let plain: Store;
let raw: RawClient;
let alice: UserId;
let bob: UserId;
let chats: Chat[];
let rounds = 0;

beforeAll(async () => {
  backend = await RedisBackend.open({ fastPaths: true, observer: { roundTrip: () => (rounds += 1) }, commandTimeoutMs: 2_000 });
  plain = await openRedisStore(backend.server.url, { fastPaths: false });
  raw = await rawClient(backend.server.url);
});
afterAll(async () => {
  raw.destroy();
  await plain.close();
  await backend.close();
});

beforeEach(async () => {
  const fixture = new Fixture(backend);
  alice = fixture.user('alice');
  bob = fixture.user('bob é');
  chats = [await fixture.group(alice, [bob]), fixture.direct(alice, bob), fixture.direct(alice, bob)];
  await chats[0]?.sayTimes(alice, 300);
  await chats[1]?.sayTimes(bob, 3);
  await chats[2]?.say(alice, { content: { kind: 'text', text: 'long '.repeat(1_000) } });
  await wired();
});

const page = (store: Store, watermark: number) =>
  store.messages.readConversations(
    TENANT,
    bob,
    chats.map(({ conversationId }) => ({ conversationId, watermark: seq(watermark) })),
  );

const wires = async () => [...(await raw.sendCommand<Buffer>(['CLIENT', 'LIST'])).toString().matchAll(/ name=qim-pages /g)].length;

/** It is connected when it is used; the page that found none was read without it. */
async function wired(): Promise<void> {
  await vi.waitFor(
    async () => {
      await page(backend.store, 0);
      expect(await wires()).toBe(1);
    },
    { timeout: 60_000 },
  );
}

test.each([0, 1, 2, 49, 100, 101, 255, 256, 290, 301, 400])(
  'past watermark %d it answers what the ordinary connection answers, in two rounds',
  async (watermark) => {
    rounds = 0;
    const answer = await page(backend.store, watermark);
    expect(rounds).toBe(2);
    expect(answer).toEqual(await page(plain, watermark));
  },
);

test('facts that Redis gives in another order, or with a field that is not known, are read', async () => {
  const { facts } = new KeySpace(64).conversation(TENANT, chats[0]?.conversationId ?? fail());
  // Past 64 bytes a hash no longer keeps the order in which its fields were written.
  await raw.sendCommand(['HSET', facts, 'title', 'a long title '.repeat(10)]);
  rounds = 0;
  const answer = await page(backend.store, 290);
  expect(rounds).toBe(2);
  expect(answer).toEqual(await page(plain, 290));
  await raw.sendCommand(['HSET', facts, 'other', 'x']);
  expect(await page(backend.store, 290)).toEqual(answer);
  await raw.sendCommand(['HDEL', facts, 'other', 'epoch']);
  expect(await page(backend.store, 290)).toEqual(await page(plain, 290));
  expect((await page(plain, 290))[0]?.kind).toBe('damaged');
});

describe('a page of several pieces', () => {
  const COUNT = 2 * WIRE_PIECE_CONVERSATIONS + 1;
  let many: Chat[];
  const longPage = (store: Store, length: number, watermark: number) =>
    store.messages.readConversations(
      TENANT,
      bob,
      many.slice(0, length).map(({ conversationId }) => ({ conversationId, watermark: seq(watermark) })),
    );

  beforeEach(async () => {
    const fixture = new Fixture(backend);
    many = Array.from({ length: COUNT }, () => fixture.direct(alice, bob));
    await Promise.all(many.map((chat, n) => chat.sayTimes(alice, 1 + (n % 3))));
  });

  test.each([1, WIRE_PIECE_CONVERSATIONS, WIRE_PIECE_CONVERSATIONS + 1, COUNT])(
    'of %d conversations counts as two rounds',
    async (length) => {
      for (const watermark of [0, 1, 2]) {
        rounds = 0;
        const answer = await longPage(backend.store, length, watermark);
        expect(rounds).toBe(2);
        expect(answer).toEqual(await longPage(plain, length, watermark));
      }
    },
  );

  test.each([0, WIRE_PIECE_CONVERSATIONS, COUNT - 1])(
    'is asked elsewhere as a whole when that of conversation %d is not understood',
    async (n) => {
      const keys = new KeySpace(64).conversation(TENANT, many[n]?.conversationId ?? fail());
      await raw.sendCommand(['DEL', keys.history]);
      await raw.sendCommand(['SET', keys.history, 'x']);
      const answer = await longPage(backend.store, COUNT, 0);
      expect(answer.map(({ kind }) => kind)).toEqual(Array.from({ length: COUNT }, (_, i) => (i === n ? 'damaged' : 'sound')));
      expect(answer).toEqual(await longPage(plain, COUNT, 0));
      expect(await wires()).toBe(1);
    },
  );
});

test('pages that are asked for at once each get their own answer', async () => {
  const watermarks = [0, 100, 150, 200, 250, 299];
  const answers = await Promise.all(watermarks.map((watermark) => page(backend.store, watermark)));
  for (const [i, watermark] of watermarks.entries()) expect(answers[i]).toEqual(await page(plain, watermark));
});

test('a key of another type is told as the ordinary connection tells it, and the wire stays', async () => {
  const keys = new KeySpace(64).conversation(TENANT, chats[1]?.conversationId ?? fail());
  await raw.sendCommand(['DEL', keys.history]);
  await raw.sendCommand(['SET', keys.history, 'x']);
  const answer = await page(backend.store, 0);
  expect(answer.map(({ kind }) => kind)).toEqual(['sound', 'damaged', 'sound']);
  expect(answer).toEqual(await page(plain, 0));
  expect(await wires()).toBe(1);
});

test('a wire that is cut is made anew, and no page fails meanwhile', async () => {
  const list = (await raw.sendCommand<Buffer>(['CLIENT', 'LIST'])).toString();
  const id = /id=(\d+) [^\n]* name=qim-pages /.exec(list)?.[1] ?? fail();
  const asked = page(backend.store, 290);
  await raw.sendCommand(['CLIENT', 'KILL', 'ID', id]);
  expect(await asked).toEqual(await page(plain, 290));
  expect(await page(backend.store, 290)).toEqual(await page(plain, 290));
  await wired();
});

test('a server that does not answer in time is unavailable, and the page that comes next is answered', async () => {
  backend.server.pause();
  const silent = page(backend.store, 0);
  await expect(silent).rejects.toMatchObject({ code: 'StoreUnavailable' });
  backend.server.resume();
  await vi.waitFor(async () => expect(await page(backend.store, 0)).toEqual(await page(plain, 0)), { timeout: 60_000 });
});

test('a server that has become a replica is not read from by a new wire', async () => {
  const list = (await raw.sendCommand<Buffer>(['CLIENT', 'LIST'])).toString();
  const id = /id=(\d+) [^\n]* name=qim-pages /.exec(list)?.[1] ?? fail();
  await raw.sendCommand(['REPLICAOF', '127.0.0.1', '1']);
  try {
    await raw.sendCommand(['CLIENT', 'KILL', 'ID', id]);
    await vi.waitFor(async () => {
      await page(backend.store, 0).catch(() => {});
      expect(await raw.sendCommand<Buffer>(['INFO', 'commandstats'])).toBeDefined();
      expect(await wires()).toBe(0);
    });
  } finally {
    await raw.sendCommand(['REPLICAOF', 'NO', 'ONE']);
  }
  await wired();
});

function fail(): never {
  throw new Error('it is there');
}
