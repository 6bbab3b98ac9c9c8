import type { Conversation, ConversationPage, Message, SoundConversation } from '@qim/client';
import {
  CLIENT_LIST_ENTRIES_MAX,
  LIST_PAGE_SIZE_DEFAULT,
  LIST_REFRESH_DELAY_MS,
  LIST_REFRESH_MAX,
  LIST_REFRESH_PARALLEL_MAX,
  LIST_REFRESH_PAUSE_MS,
} from '@qim/proto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ConversationList } from '../src/conversation-list.js';
import { environmentFrom } from '../src/environment.js';
import { clientError, QimClientError } from '../src/errors.js';
import { MESSAGE, sound } from './support/entries.js';
import { FakeSocket } from './support/fake-socket.js';

let all: Conversation[];
let reads: string[];
let parallel: { now: number; most: number };
let failure: QimClientError | undefined;
let betweenPages: () => void;
let list: ConversationList;

async function listConversations(pageSize: number, pageToken: string): Promise<ConversationPage> {
  reads.push(`list ${pageSize}`);
  if (failure !== undefined) throw failure;
  const from = Number(pageToken || '0');
  const nextPageToken = from + pageSize < all.length ? String(from + pageSize) : '';
  const conversations = all.slice(from, from + pageSize);
  betweenPages();
  betweenPages = () => {};
  return { conversations, nextPageToken, damagedCount: 0 };
}

async function getConversation(conversationId: string): Promise<Conversation> {
  reads.push(conversationId);
  parallel.now += 1;
  parallel.most = Math.max(parallel.most, parallel.now);
  await Promise.resolve();
  parallel.now -= 1;
  const found = all.find((entry) => entry.conversationId === conversationId);
  if (found === undefined) throw new QimClientError({ code: 'not_found', reason: 'NOT_MEMBER', message: 'no such conversation' });
  return found;
}

beforeEach(() => {
  vi.useFakeTimers();
  all = [];
  reads = [];
  parallel = { now: 0, most: 0 };
  failure = undefined;
  betweenPages = () => {};
  const environment = environmentFrom({ WebSocket: FakeSocket });
  list = new ConversationList({ api: { listConversations, getConversation }, environment, noted: () => {}, gone: () => {} });
});

afterEach(() => {
  list.close();
  vi.useRealTimers();
});

function ownMessage(conversationId: string, conversationSeq: number): Message {
  return { ...MESSAGE, conversationId, conversationSeq, messageId: `m${conversationSeq}`, activityId: `a${conversationSeq}` };
}

const ids = (): string[] => list.state.snapshot().conversations.map((entry) => entry.conversationId);
const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(LIST_REFRESH_PAUSE_MS);

async function listed(...conversations: Conversation[]): Promise<void> {
  all = conversations;
  list.relist();
  await settle();
  reads = [];
}

test("a message of one's own is the new head without a reading, on top, and below the pinned ones", async () => {
  const pinned = { ...sound('p'), flags: { ...sound('p').flags, pinned: true } };
  await listed(pinned, sound('a'), sound('b'));
  list.sent(ownMessage('b', 2), true);
  expect(ids()).toEqual(['p', 'b', 'a']);
  expect(list.find('b')).toMatchObject({ latestConversationSeq: 2, lastMessageId: 'm2', unreadCount: 0 });
  list.sent(ownMessage('p', 2), true);
  expect(ids()).toEqual(['p', 'b', 'a']);
  list.marked('b', 2);
  expect(list.find('b')).toMatchObject({ readConversationSeq: 2, unreadCount: 0, unreadExact: true });
  await settle();
  expect(reads).toEqual([]);
});

test('a list or an entry that is being read, is old, or has yet to come is read for them', async () => {
  await listed(sound('a'), sound('b'));
  list.touch('a', 'activity');
  list.sent(ownMessage('a', 2), true);
  list.marked('a', 1);
  list.sent(ownMessage('b', 3), true);
  list.sent(ownMessage('new', 1), true);
  expect(list.find('a')).toEqual(sound('a'));
  expect(list.find('b')).toEqual(sound('b'));
  all = [sound('a', 2), sound('b', 3), sound('new')];
  await settle();
  expect(reads.sort()).toEqual(['a', 'b', 'new']);
  reads = [];
  list.relist();
  list.sent(ownMessage('a', 3), true);
  await vi.advanceTimersByTimeAsync(0);
  list.sent(ownMessage('b', 4), false);
  await settle();
  await settle();
  expect(reads.sort()).toEqual(['a', 'b', `list ${LIST_PAGE_SIZE_DEFAULT}`]);
});

test('a conversation with a newer head moves to the top; one that was only read or amended stays', async () => {
  await listed(sound('a'), sound('b'), sound('c'));
  all = [sound('a'), { ...sound('b'), unreadCount: 3 }, sound('c', 2)];
  list.touch('b', 'activity');
  list.touch('c', 'activity');
  await settle();
  expect(ids()).toEqual(['c', 'a', 'b']);
  expect(list.find('b')).toMatchObject({ unreadCount: 3 });
});

test('of several with newer heads the last one touched is on top', async () => {
  await listed(sound('a'), sound('b'), sound('c'));
  all = [sound('a', 2), sound('b', 2), sound('c')];
  for (const id of ['a', 'b', 'a']) list.touch(id, 'activity');
  await settle();
  expect(ids()).toEqual(['a', 'b', 'c']);
});

test('touches of one moment read each conversation once, a few at a time', async () => {
  await listed(...Array.from({ length: 20 }, (_, n) => sound(`g_${n}`)));
  for (let round = 0; round < 3; round += 1) for (const { conversationId } of all) list.touch(conversationId, 'activity');
  await settle();
  expect(reads.length).toBe(20);
  expect(parallel.most).toBe(LIST_REFRESH_PARALLEL_MAX);
});

test('what is touched all the time is read at once the first time, and then as often as the pause lets it', async () => {
  await listed(sound('a'), sound('b'));
  list.touch('a', 'activity');
  await vi.advanceTimersByTimeAsync(LIST_REFRESH_DELAY_MS);
  expect(reads).toEqual(['a']);
  for (let ms = 0; ms < LIST_REFRESH_PAUSE_MS; ms += LIST_REFRESH_DELAY_MS) {
    list.touch('a', 'activity');
    list.touch('b', 'activity');
    await vi.advanceTimersByTimeAsync(LIST_REFRESH_DELAY_MS - 1);
    expect(reads).toEqual(['a']);
    await vi.advanceTimersByTimeAsync(1);
  }
  expect(reads).toEqual(['a', 'a', 'b']);
});

test('as many changes as the bound are read one by one; one more reads the list instead', async () => {
  await listed(sound('a'));
  for (let n = 0; n < LIST_REFRESH_MAX; n += 1) list.touch(`g_${n}`, 'activity');
  await settle();
  expect(reads.filter((read) => read.startsWith('list'))).toEqual([]);
  reads = [];
  for (let n = 0; n <= LIST_REFRESH_MAX; n += 1) list.touch(`g_${n}`, 'activity');
  await settle();
  expect(reads).toEqual([`list ${LIST_PAGE_SIZE_DEFAULT}`]);
});

test('a quiet conversation beyond the pages that were read does not jump in; one with a new message does', async () => {
  await listed(...Array.from({ length: LIST_PAGE_SIZE_DEFAULT + 1 }, (_, n) => sound(`g_${n}`)));
  const last = `g_${LIST_PAGE_SIZE_DEFAULT}`;
  list.touch(last, 'other');
  await settle();
  expect(ids()).not.toContain(last);
  list.touch(last, 'activity');
  await settle();
  expect(ids()[0]).toBe(last);
});

test('a conversation that was told of while the list is read is read after it', async () => {
  await listed(sound('a'), sound('b'));
  all = [sound('a', 2), sound('b')];
  list.relist();
  list.touch('a', 'activity');
  await settle();
  expect(reads).toEqual([`list ${LIST_PAGE_SIZE_DEFAULT}`, 'a']);
});

test('a conversation that moves between two pages comes once, as it was read last', async () => {
  await listed(...Array.from({ length: 120 }, (_, n) => sound(`g_${n}`)));
  await list.loadMore();
  await list.loadMore();
  betweenPages = () => {
    all = [sound('new'), ...all.map((entry) => (entry.conversationId === 'g_99' ? sound('g_99', 7) : entry))];
  };
  list.relist();
  await settle();
  expect(ids().filter((id) => id === 'g_99')).toEqual(['g_99']);
  expect(list.find('g_99')).toMatchObject({ latestConversationSeq: 7 });
});

test('reading again reaches as far as before', async () => {
  await listed(...Array.from({ length: 120 }, (_, n) => sound(`g_${n}`)));
  await list.loadMore();
  await list.loadMore();
  expect(ids().length).toBe(120);
  list.relist();
  await settle();
  expect([ids().length, list.state.snapshot().hasMore]).toEqual([120, false]);
});

test('entries are held up to the bound; loading more is refused then', async () => {
  await listed(...Array.from({ length: CLIENT_LIST_ENTRIES_MAX + 1 }, (_, n) => sound(`g_${n}`)));
  while (ids().length < CLIENT_LIST_ENTRIES_MAX) await list.loadMore();
  expect(ids().length).toBe(CLIENT_LIST_ENTRIES_MAX);
  await expect(list.loadMore()).rejects.toMatchObject({ reason: 'CLIENT_LIMIT' });
});

test('a lost link is no error of the list; a refusal is, and what was read stays', async () => {
  await listed(sound('a'));
  failure = clientError('CONNECTION_LOST', 'lost', true);
  list.relist();
  await settle();
  expect(list.state.snapshot()).toMatchObject({ status: 'ready', error: undefined });
  failure = new QimClientError({ code: 'internal', reason: 'INTERNAL', message: 'no' });
  list.relist();
  await settle();
  expect(list.state.snapshot()).toMatchObject({ status: 'error', error: { reason: 'INTERNAL' } });
  expect(ids()).toEqual(['a']);
});

const flagged = (entry: SoundConversation, flags: Partial<SoundConversation['flags']>): SoundConversation => ({
  ...entry,
  flags: { ...entry.flags, ...flags },
});

test('a new message moves its conversation below the pinned ones, and a pinned one stays where it is', async () => {
  const [pinned, alsoPinned] = [flagged(sound('p'), { pinned: true }), flagged(sound('q'), { pinned: true })];
  await listed(pinned, alsoPinned, sound('a'), sound('b'));
  all = [pinned, { ...alsoPinned, latestConversationSeq: 2 }, sound('a'), sound('b', 2)];
  for (const id of ['b', 'q']) list.touch(id, 'activity');
  await settle();
  expect(ids()).toEqual(['p', 'q', 'b', 'a']);
});

test('one that was pinned on another device takes the place that the server gives it', async () => {
  await listed(sound('a'), sound('b'));
  all = [flagged(sound('b'), { pinned: true }), sound('a')];
  list.touch('b', 'activity');
  await settle();
  expect([ids(), reads]).toEqual([
    ['b', 'a'],
    ['b', `list ${LIST_PAGE_SIZE_DEFAULT}`],
  ]);
});

test('a hidden one leaves the list, and is back once a message has ended the hiding', async () => {
  await listed(sound('a'), sound('b'));
  all = [sound('a'), flagged(sound('b'), { hidden: true })];
  list.touch('b', 'other');
  await settle();
  expect(ids()).toEqual(['a']);
  all = [sound('b', 2), sound('a')];
  list.touch('b', 'activity');
  await settle();
  expect(ids()).toEqual(['b', 'a']);
});

test('what was kept shows until the server has spoken, and never after', async () => {
  list.restore([sound('kept')]);
  expect(list.state.snapshot()).toMatchObject({ status: 'ready', stale: true });
  await listed(sound('a'));
  expect([ids(), list.state.snapshot().stale]).toEqual([['a'], false]);
  list.restore([sound('kept')]);
  expect(ids()).toEqual(['a']);
});
