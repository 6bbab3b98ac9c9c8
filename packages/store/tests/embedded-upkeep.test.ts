/** What the embedded store does beside the contracts: grouping, growth, expiry, redelivery, refusal of foreign folders. */
import {
  DEDUP_WEEK_MS,
  EMBEDDED_BATCH_MAX,
  EXACT_UNREAD_SCAN_LIMIT,
  EXPIRED_CLEARED_MAX,
  parseConversationId,
  parseUserId,
  STORE_COMMANDS_WAITING_MAX,
  type UserId,
} from '@qim/proto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Environment, type Write } from '../src/embedded/environment.js';
import { enterFolder } from '../src/embedded/folders.js';
import { FORMAT_KEY, outboxEntry, Table } from '../src/embedded/keys.js';
import { openEmbeddedStore } from '../src/embedded/open.js';
import { readConversationState } from '../src/embedded/readings.js';
import { readingScope } from '../src/message/summaries.js';
import type { OutboxLease } from '../src/outbox/outbox.js';
import { Fixture, seq, TENANT, TITLE } from '../src/testing/conformance/fixture.js';
import { EmbeddedBackend } from './embedded-backend.js';
import { dump } from './embedded-dump.js';

let flushes: number;
let backend: EmbeddedBackend;
let fixture: Fixture;
let alice: UserId;
let bob: UserId;

beforeEach(async () => {
  flushes = 0;
  backend = await EmbeddedBackend.open({ observer: { roundTrip: () => (flushes += 1) } });
  fixture = new Fixture(backend);
  alice = fixture.user('alice');
  bob = fixture.user('bob');
});

afterEach(() => backend.close());

/** Writes as if a fault or another program had done it. */
async function writeRaw(writes: readonly Write[]): Promise<void> {
  const { environment, leave } = await enterFolder(backend.folder, false, 1);
  await environment.write('test', () => ({ result: undefined, writes }));
  await leave();
}

const linesOf = async (table: string): Promise<readonly string[]> =>
  (await dump(backend.folder)).filter((line) => line.startsWith(`${table}:`));

describe('commits that wait share a flush', () => {
  test('those of different conversations too, and each gets its own answer', async () => {
    const chats = Array.from({ length: 100 }, () => fixture.direct(alice, bob));
    flushes = 0;
    const outcomes = await Promise.all(chats.map((chat) => chat.say(alice)));
    expect(flushes).toBe(1);
    expect(outcomes.map(({ conversationSeq }) => conversationSeq)).toEqual(chats.map(() => 1));
  });

  test('EMBEDDED_BATCH_MAX of them, and one more takes another', async () => {
    const chat = fixture.direct(alice, bob);
    await chat.say(alice);
    flushes = 0;
    await Promise.all(Array.from({ length: EMBEDDED_BATCH_MAX }, () => chat.say(alice)));
    expect(flushes).toBe(1);
    flushes = 0;
    await Promise.all(Array.from({ length: EMBEDDED_BATCH_MAX + 1 }, () => chat.say(alice)));
    expect(flushes).toBe(2);
    expect((await chat.summary(bob)).latestConversationSeq).toBe(2 * EMBEDDED_BATCH_MAX + 2);
  });

  test('a duplicate that waits with its first commit is one', async () => {
    const request = fixture.direct(alice, bob).request(alice);
    const outcomes = await Promise.all([1, 2, 3].map(() => backend.store.messages.commit(request)));
    expect(outcomes.map(({ duplicate }) => duplicate)).toEqual([false, true, true]);
    expect(new Set(outcomes.map(({ messageId }) => messageId)).size).toBe(1);
  });

  test('more than STORE_COMMANDS_WAITING_MAX are refused, not queued', async () => {
    const environment = new Environment(`${backend.folder}/other.mdb`, 1);
    const write = (): Promise<void> => environment.write('test', () => ({ result: undefined, writes: [] }));
    const waiting = Array.from({ length: STORE_COMMANDS_WAITING_MAX }, write);
    await expect(write()).rejects.toMatchObject({ code: 'StoreUnavailable' });
    await Promise.all(waiting);
    await environment.close();
    await expect(write()).rejects.toMatchObject({ code: 'StoreUnavailable' });
  });
});

describe('a list reads no more than it must', () => {
  test('however long the history: the window, the head, and the preview where that is another one', async () => {
    const chat = fixture.direct(alice, bob);
    await Promise.all(Array.from({ length: 300 }, () => chat.say(alice)));
    await chat.sayTimes(alice, 2, TITLE);
    const { environment, leave } = await enterFolder(backend.folder, false, 1);
    const scope = readingScope(TENANT, bob);
    const read = (watermark: number) =>
      environment.read((snapshot) =>
        readConversationState(snapshot, scope, { conversationId: chat.conversationId, watermark: seq(watermark) }),
      );
    const rows = [302, 301, 300, 299, 102, 101, 0].map((watermark) => {
      const { reading, recordsRead } = read(watermark);
      return [watermark, reading.kind === 'sound' && reading.evidence.scanned, recordsRead];
    });
    await leave();
    expect(rows).toEqual([
      [302, 0, 2],
      [301, 1, 2],
      [300, 2, 3],
      [299, 3, 3],
      [102, EXACT_UNREAD_SCAN_LIMIT, EXACT_UNREAD_SCAN_LIMIT],
      [101, 0, 2],
      [0, 0, 2],
    ]);
  });
});

test('a file that outgrows its map goes on', async () => {
  const small = await EmbeddedBackend.open({ mapBytes: 1 });
  const chat = new Fixture(small).direct(alice, bob);
  const long = 'long '.repeat(3_000);
  await Promise.all(Array.from({ length: 300 }, () => chat.say(alice, long)));
  await small.reopen();
  expect(await chat.unread(bob)).toEqual([200, false]);
  expect((await chat.history(bob, { limit: 1 })).records[0]?.content).toEqual({ kind: 'text', text: long });
  await small.close();
});

describe('expiry', () => {
  test('de-duplication entries go when no retry looks at them any more, and not before', async () => {
    const chat = fixture.direct(alice, bob);
    const first = chat.request(alice);
    await chat.messages.commit(first);
    backend.advance(DEDUP_WEEK_MS);
    expect((await chat.messages.commit(first)).duplicate).toBe(true);
    await chat.say(alice);
    expect(await linesOf(Table.Dedup)).toHaveLength(2);
    backend.advance(DEDUP_WEEK_MS);
    await chat.say(alice);
    expect(await linesOf(Table.Dedup)).toHaveLength(2);
    expect((await chat.messages.commit(first)).duplicate).toBe(false);
  });

  test('one commit clears EXPIRED_CLEARED_MAX away, the next one the rest', async () => {
    const chat = fixture.direct(alice, bob);
    await chat.sayTimes(alice, EXPIRED_CLEARED_MAX + 2);
    backend.advance(2 * DEDUP_WEEK_MS);
    await chat.say(alice);
    expect(await linesOf(Table.Dedup)).toHaveLength(2 + 1);
    await chat.say(alice);
    expect(await linesOf(Table.Dedup)).toHaveLength(2);
  });

  test('a tombstone goes with its view, unless the user came back or left again', async () => {
    const { directory } = backend.store;
    const group = parseConversationId('g_left');
    const activity = { conversationSeq: seq(1), activityAtMs: 1 };
    const users = ['gone', 'back', 'again'].map((name) => fixture.user(name));
    const [gone, back, again] = users as [UserId, UserId, UserId];
    await directory.join(
      TENANT,
      group,
      users.map((userId) => ({ userId, joinedSeq: seq(1), visibleFrom: seq(1) })),
      activity,
    );
    await directory.leave(TENANT, group, users, seq(2));
    await directory.join(TENANT, group, [{ userId: back, joinedSeq: seq(3), visibleFrom: seq(3) }], activity);
    backend.advance(DEDUP_WEEK_MS);
    await directory.leave(TENANT, group, [again], seq(4));
    expect(await linesOf(Table.View)).toHaveLength(3);

    const chat = fixture.direct(alice, bob);
    backend.advance(DEDUP_WEEK_MS);
    await chat.say(alice);
    const views = await linesOf(Table.View);
    expect(views).toHaveLength(2);
    expect(views.some((line) => line.includes(encodeURIComponent(gone)))).toBe(false);
    expect(await directory.view(TENANT, back, group)).toMatchObject({ joinedSeq: 3 });
    await directory.join(TENANT, group, [{ userId: again, joinedSeq: seq(1), visibleFrom: seq(1) }], activity);
    expect(await directory.view(TENANT, again, group), 'the later leave stands').toBeUndefined();
  });

  test('a remembered group request goes', async () => {
    const { directory } = backend.store;
    const [first, second] = [parseConversationId('g_first'), parseConversationId('g_second')];
    expect(await directory.groupForRequest(TENANT, alice, 'request', first)).toBe(first);
    backend.advance(DEDUP_WEEK_MS);
    expect(await directory.groupForRequest(TENANT, alice, 'request', second)).toBe(first);
    backend.advance(DEDUP_WEEK_MS);
    await fixture.direct(alice, bob).say(alice);
    expect(await linesOf(Table.GroupRequest)).toEqual([]);
    expect(await directory.groupForRequest(TENANT, alice, 'request', second)).toBe(second);
  });
});

describe('the outbox', () => {
  const now = new AbortController().signal;
  const acquire = async (): Promise<OutboxLease> => {
    const lease = await backend.store.outbox.acquire(0, 'owner', 60_000);
    if (lease === undefined) throw new Error('the lease is free');
    return lease;
  };

  test('what was read and not acknowledged comes again after a restart, and a token is never given twice', async () => {
    const chat = fixture.direct(alice, bob);
    await chat.sayTimes(alice, 3);
    const lease = await acquire();
    const { entries } = await backend.store.outbox.read([lease], 0, now);
    expect(entries.map(({ conversationSeq }) => conversationSeq)).toEqual([1, 2, 3]);
    await backend.store.outbox.acknowledge(lease, [entries[1]?.entryId ?? '']);
    await backend.reopen();
    const next = await acquire();
    expect(next.token).toBeGreaterThan(lease.token);
    const again = await backend.store.outbox.read([next], 0, now);
    expect(again.entries.map(({ conversationSeq }) => conversationSeq)).toEqual([1, 3]);
    expect(await backend.store.outbox.acknowledge(lease, ['1'])).toBe(false);
  });

  test('numbers rise on when everything was acknowledged', async () => {
    const chat = fixture.direct(alice, bob);
    await chat.say(alice);
    const lease = await acquire();
    await backend.store.outbox.acknowledge(lease, ['1']);
    await backend.reopen();
    await chat.say(alice);
    const { entries } = await backend.store.outbox.read([await acquire()], 0, now);
    expect(entries.map(({ entryId }) => entryId)).toEqual(['2']);
  });

  test('an entry that cannot be read is poison, and stops no other', async () => {
    const chat = fixture.direct(alice, bob);
    await chat.sayTimes(alice, 3);
    await writeRaw([{ key: outboxEntry(Table.Outbox, 0, 2), value: Buffer.from('garbage') }]);
    const lease = await acquire();
    const { entries, poison } = await backend.store.outbox.read([lease], 0, now);
    expect(entries.map(({ entryId }) => entryId)).toEqual(['1', '3']);
    expect(poison).toEqual([{ partition: 0, entryId: '2', reason: 'the entry cannot be read' }]);
    expect(await backend.store.outbox.setAside(lease, '2', 'unreadable')).toBe(true);
    expect(await backend.store.outbox.backlog()).toMatchObject({ entries: 2, poison: 1 });
    const [stored] = await linesOf(Table.Poison);
    expect(stored).toContain('{"entry":"garbage","reason":"unreadable","atMs":');
    const aside = { partition: 0, entryId: '2', reason: 'unreadable', about: undefined };
    expect(await backend.store.outbox.poison(1)).toMatchObject([aside]);
  });

  test('a wait ends when the store is closed', async () => {
    const lease = await acquire();
    const waiting = backend.store.outbox.read([lease], 60_000, now);
    await backend.store.close();
    expect(await waiting).toEqual({ entries: [], poison: [] });
  });
});

describe('a folder that is not ours', () => {
  test('of another format is refused', async () => {
    await writeRaw([{ key: FORMAT_KEY, value: Buffer.from('2 1') }]);
    await backend.store.close();
    await expect(openEmbeddedStore(backend.folder)).rejects.toThrow('this qim reads format 1');
  });

  test('with data but no format entry is refused', async () => {
    await fixture.direct(alice, bob).say(alice);
    await writeRaw([{ key: FORMAT_KEY, value: undefined }]);
    await backend.store.close();
    await expect(openEmbeddedStore(backend.folder)).rejects.toMatchObject({ code: 'StoreUnavailable' });
  });

  test('that is a file is refused', async () => {
    await expect(openEmbeddedStore(`${backend.folder}/messages.mdb`)).rejects.toMatchObject({ code: 'StoreUnavailable' });
  });
});

test('after it is closed every call is refused', async () => {
  const { messages, directory, outbox, ping, close } = backend.store;
  const chat = fixture.direct(alice, bob);
  await close();
  await close();
  for (const call of [
    () => messages.commit(chat.request(alice)),
    () => messages.readMembers(TENANT, chat.conversationId),
    () => directory.page(TENANT, alice, 1, undefined),
    () => outbox.backlog(),
    () => ping(),
  ]) {
    await expect(call()).rejects.toMatchObject({ code: 'StoreUnavailable' });
  }
  await backend.reopen();
  expect(await backend.store.directory.view(TENANT, parseUserId('nobody'), chat.conversationId)).toBeUndefined();
});
