import { fromBinary } from '@bufbuild/protobuf';
import type { Message, OpenConversation, QimEvent } from '@qim/client';
import { HISTORY_PAGE_SIZE_MAX } from '@qim/proto';
import { CatchUpRequestSchema, ReadHistoryRequestSchema } from '@qim/proto/schema';
import { describe, expect, test } from 'vitest';
import { makeClient, online, startServer, until } from './support/setup.js';

const texts = (open: OpenConversation): string[] =>
  open.snapshot().messages.map(({ content }) => (content.kind === 'text' ? content.text : content.kind));
const seqs = (messages: readonly Message[]): number[] => messages.map((message) => message.conversationSeq);

describe('the conversation list', () => {
  test('holds what the server said, by activity, from the welcome on', async () => {
    const server = await startServer();
    server.chat.add('g_old', 'alice', 'bob');
    server.chat.add('g_new', 'alice', 'bob');
    server.chat.commit('g_old', 'bob');
    server.chat.commit('g_new', 'bob');
    const alice = await online(server, 'alice');
    const { conversations, hasMore } = alice.conversations.snapshot();
    expect(conversations.map((entry) => entry.conversationId)).toEqual(['g_new', 'g_old']);
    expect(conversations[0]).toMatchObject({ unreadCount: 1, unreadExact: true, latestConversationSeq: 1, damaged: undefined });
    expect(hasMore).toBe(false);
  });

  test('moves a conversation with a new message to the top, and reads its numbers from the server', async () => {
    const server = await startServer();
    for (const id of ['g_1', 'g_2']) server.chat.add(id, 'alice', 'bob');
    server.chat.commit('g_1', 'bob');
    server.chat.commit('g_2', 'bob');
    const alice = await online(server, 'alice');
    server.say('g_1', 'bob');
    await until(() => alice.conversations.snapshot().conversations[0]?.conversationId === 'g_1');
    expect(alice.conversations.snapshot().conversations[0]).toMatchObject({ unreadCount: 2 });
  });

  test('reads a busy conversation once for many events', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'alice', 'bob');
    const alice = await online(server, 'alice');
    for (let n = 0; n < 40; n += 1) server.say('g_1', 'bob');
    await until(() => (alice.conversations.snapshot().conversations[0] as { unreadCount?: number }).unreadCount === 40);
    expect(server.callsOf('GetConversation').length).toBeLessThan(8);
  });

  test('gives a damaged conversation no number of any kind', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'alice').damaged = true;
    const alice = await online(server, 'alice');
    const [entry] = alice.conversations.snapshot().conversations;
    expect(entry?.damaged).toEqual({ reason: 'CORRUPT_RECORD', conversationSeq: 3, what: 'recordMissing' });
    expect(entry).not.toHaveProperty('unreadCount');
    expect(entry).not.toHaveProperty('latestConversationSeq');
  });

  test('reads on with loadMore, and no conversation comes twice when they move between pages', async () => {
    const server = await startServer();
    for (let n = 0; n < 60; n += 1) {
      server.chat.add(`g_${n}`, 'alice', 'bob');
      server.chat.commit(`g_${n}`, 'bob');
    }
    const alice = await online(server, 'alice');
    expect(alice.conversations.snapshot()).toMatchObject({ hasMore: true });
    server.chat.commit('g_0', 'bob');
    await alice.conversations.loadMore();
    const ids = alice.conversations.snapshot().conversations.map((entry) => entry.conversationId);
    expect(ids.length).toBe(new Set(ids).size);
    expect(ids).toContain('g_1');
    expect(alice.conversations.snapshot().hasMore).toBe(false);
  });

  test('is read again on resyncNeeded, which brings what no event told', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'alice', 'bob');
    const alice = await online(server, 'alice');
    server.chat.commit('g_1', 'bob');
    server.emit(['alice'], { kind: { case: 'resyncNeeded', value: {} } });
    await until(() => (alice.conversations.snapshot().conversations[0] as { unreadCount?: number }).unreadCount === 1);
  });

  test('loses a conversation that the user was removed from, and its window is told', async () => {
    const server = await startServer();
    const conversation = server.chat.add('g_1', 'alice', 'bob');
    const alice = await online(server, 'alice');
    const open = alice.openConversation('g_1');
    await until(() => open.snapshot().status === 'ready');
    conversation.members.delete('alice');
    server.emit(['alice'], { kind: { case: 'removed', value: { conversationId: 'g_1' } } });
    await until(() => open.snapshot().status === 'removed');
    expect(alice.conversations.snapshot().conversations).toEqual([]);
    expect(open.snapshot().messages).toEqual([]);
  });

  test('keeps a conversation when the news of a removal is older than the return', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'alice', 'bob');
    server.chat.commit('g_1', 'bob');
    const alice = await online(server, 'alice');
    const open = alice.openConversation('g_1');
    await until(() => open.snapshot().status === 'ready');
    server.emit(['alice'], { kind: { case: 'removed', value: { conversationId: 'g_1' } } });
    await until(() => open.snapshot().status === 'removed');
    await until(() => open.snapshot().status === 'ready');
    expect(alice.conversations.snapshot().conversations.length).toBe(1);
  });

  test('tells of a failing store, and mends with the next reading', async () => {
    const server = await startServer();
    server.fate = ({ method }) => (method.endsWith('ListConversations') ? { code: 'data_loss', reason: 'CORRUPT_RECORD' } : 'answer');
    const alice = makeClient(server, 'alice');
    alice.connect();
    await until(() => alice.conversations.snapshot().status === 'error');
    expect(alice.conversations.snapshot().error).toMatchObject({ reason: 'CORRUPT_RECORD', code: 'data_loss' });
    server.fate = () => 'answer';
    alice.conversations.refresh();
    await until(() => alice.conversations.snapshot().status === 'ready');
  });
});

describe('an open conversation', () => {
  test('shows the newest page, older ones on request, and what arrives', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'alice', 'bob');
    for (let n = 0; n < 120; n += 1) server.chat.commit('g_1', 'bob');
    const alice = await online(server, 'alice');
    const open = alice.openConversation('g_1');
    await until(() => open.snapshot().status === 'ready');
    expect(seqs(open.snapshot().messages)).toEqual(Array.from({ length: 50 }, (_, at) => at + 71));
    server.say('g_1', 'bob', 'hello');
    await until(() => texts(open).at(-1) === 'hello');
    await open.loadOlder();
    await Promise.all([open.loadOlder(), open.loadOlder()]);
    expect(open.snapshot()).toMatchObject({ hasOlder: false });
    expect(open.snapshot().messages.length).toBe(121);
  });

  test('fills a gap from history, and a hole costs one look', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'alice', 'bob');
    const alice = await online(server, 'alice');
    const open = alice.openConversation('g_1');
    await until(() => open.snapshot().status === 'ready');
    server.say('g_1', 'bob', 'one');
    await until(() => texts(open).length === 1);
    server.chat.commit('g_1', 'bob', { text: 'lost on the way' });
    server.say('g_1', 'bob', 'three', 4);
    await until(() => texts(open).length === 3);
    expect(texts(open)).toEqual(['one', 'lost on the way', 'three']);
  });

  test('ends as a fresh fetch when pushes are lost, doubled and shuffled', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'alice', 'bob');
    const alice = await online(server, 'alice');
    const open = alice.openConversation('g_1');
    await until(() => open.snapshot().status === 'ready');
    const held: (typeof server.deliver extends (event: infer E) => unknown ? E : never)[] = [];
    let count = 0;
    server.deliver = (event) => {
      count += 1;
      if (count % 3 === 0) return [];
      held.push(event);
      return held.length < 4 ? [] : [...held.splice(0).reverse(), event];
    };
    for (let n = 0; n < 100; n += 1) {
      server.say('g_1', 'bob', `n${n}`, n % 7 === 0 ? 2 : 0);
      if (n % 10 === 5) {
        const message = server.chat.recall('g_1', server.chat.get('g_1').head);
        server.emit(['alice'], { kind: { case: 'messageAmended', value: { message } } });
      }
    }
    server.emit(['alice'], { kind: { case: 'resyncNeeded', value: {} } });
    server.deliver = (event) => [event];
    server.emit(['alice'], { kind: { case: 'resyncNeeded', value: {} } });
    const fresh = (): Promise<{ messages: readonly Message[] }> => alice.readHistory({ conversationId: 'g_1', afterSeq: 0, limit: 200 });
    const { messages } = await fresh();
    await until(() => open.snapshot().messages.length === messages.length);
    await until(() => JSON.stringify(open.snapshot().messages) === JSON.stringify(messages));
    expect(messages.length).toBe(100);
  });

  test('reads what 300 messages away brought in pages after the link came back, and shows each once', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'alice', 'bob');
    server.chat.commit('g_1', 'bob');
    const alice = await online(server, 'alice');
    const open = alice.openConversation('g_1');
    await until(() => open.snapshot().status === 'ready');
    await server.stop();
    await until(() => alice.connection.snapshot().status !== 'online');
    for (let n = 0; n < 300; n += 1) server.chat.commit('g_1', 'bob', { holes: n % 2 });
    server.calls.length = 0;
    await server.start();
    await until(() => open.snapshot().messages.length === 301);
    expect(seqs(open.snapshot().messages)).toEqual(server.chat.get('g_1').messages.map((message) => Number(message.conversationSeq)));
    await until(() => server.callsOf('ReadHistory').length > 0);
    // Whether the first one held is still the first one.
    expect(server.callsOf('ReadHistory').map(({ body }) => fromBinary(ReadHistoryRequestSchema, body).limit)).toEqual([1]);
    const pages = server.callsOf('CatchUp').map(({ body }) => fromBinary(CatchUpRequestSchema, body));
    expect(pages.map(({ limit, epoch }) => [limit, epoch])).toEqual(Array(2).fill([HISTORY_PAGE_SIZE_MAX, 1n]));
    expect(alice.conversations.snapshot().conversations[0]).toMatchObject({ unreadCount: 200, unreadExact: false });
  });

  test('learns after the link came back what was recalled meanwhile', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'alice', 'bob');
    for (let n = 0; n < 3; n += 1) server.chat.commit('g_1', 'bob');
    const alice = await online(server, 'alice');
    const open = alice.openConversation('g_1');
    await until(() => open.snapshot().status === 'ready');
    server.cut();
    server.chat.recall('g_1', 2);
    await until(() => open.snapshot().messages[1]?.status === 'recalled');
    expect(open.snapshot().messages[1]?.content).toEqual({ kind: 'none' });
  });

  test('drops what it holds and begins anew when the epoch has changed', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'alice', 'bob');
    for (const text of ['one', 'two', 'lost']) server.chat.commit('g_1', 'bob', { text });
    const alice = await online(server, 'alice');
    const open = alice.openConversation('g_1');
    await until(() => open.snapshot().status === 'ready');
    server.cut();
    server.chat.lose('g_1', 1);
    server.chat.commit('g_1', 'bob', { text: 'another third' });
    await until(() => texts(open).at(-1) === 'another third');
    expect(texts(open)).toEqual(['one', 'two', 'another third']);
  });

  test('begins anew when another message stands under a held sequence, whatever the epoch says', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'alice', 'bob');
    for (const text of ['one', 'two']) server.chat.commit('g_1', 'bob', { text });
    const alice = await online(server, 'alice');
    const open = alice.openConversation('g_1');
    await until(() => open.snapshot().status === 'ready');
    const conversation = server.chat.get('g_1');
    conversation.messages = conversation.messages.slice(0, 1);
    conversation.head = 1;
    server.say('g_1', 'bob', 'another second');
    await until(() => texts(open).join() === 'one,another second');
  });

  test('begins anew when what is held goes past the head of the server', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'alice', 'bob');
    for (const text of ['one', 'two']) server.chat.commit('g_1', 'bob', { text });
    const alice = await online(server, 'alice');
    const open = alice.openConversation('g_1');
    await until(() => open.snapshot().status === 'ready');
    const conversation = server.chat.get('g_1');
    conversation.messages = conversation.messages.slice(0, 1);
    conversation.head = 1;
    server.cut();
    await until(() => texts(open).join() === 'one');
  });

  test('tells of history that cannot be read, and retry reads it', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'alice');
    server.chat.commit('g_1', 'alice');
    server.fate = ({ method }) => (method.endsWith('ReadHistory') ? { code: 'data_loss', reason: 'CORRUPT_RECORD' } : 'answer');
    const alice = await online(server, 'alice');
    const open = alice.openConversation('g_1');
    await until(() => open.snapshot().status === 'error');
    expect(open.snapshot().error).toMatchObject({ reason: 'CORRUPT_RECORD' });
    server.fate = () => 'answer';
    open.retry();
    await until(() => open.snapshot().status === 'ready');
  });

  test('of someone who is no member is removed, not empty', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'bob');
    const alice = await online(server, 'alice');
    const open = alice.openConversation('g_1');
    await until(() => open.snapshot().status === 'removed');
  });

  test('held twice is read once, and ends with the last holder', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'alice', 'bob');
    const alice = await online(server, 'alice');
    const [first, second] = [alice.openConversation('g_1'), alice.openConversation('g_1')];
    await until(() => first.snapshot().status === 'ready');
    expect(server.callsOf('ReadHistory').length).toBe(1);
    first.close();
    first.close();
    server.say('g_1', 'bob', 'still here');
    await until(() => texts(second).length === 1);
  });

  test('marks what was shown in one call, the greatest', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'alice', 'bob');
    for (let n = 0; n < 5; n += 1) server.chat.commit('g_1', 'bob');
    const alice = await online(server, 'alice');
    const open = alice.openConversation('g_1');
    for (const seq of [1, 3, 5, 2]) open.markRead(seq);
    await until(() => (alice.conversations.snapshot().conversations[0] as { unreadCount?: number }).unreadCount === 0);
    expect(server.callsOf('MarkRead').length).toBe(1);
    open.markRead(4);
    expect(server.chat.get('g_1').read.get('alice')).toBe(5);
  });

  test('keeps a read mark while the link is away', async () => {
    const server = await startServer();
    server.chat.add('g_1', 'alice', 'bob');
    server.chat.commit('g_1', 'bob');
    const alice = await online(server, 'alice');
    server.fate = ({ method }) => (method.endsWith('MarkRead') ? 'ignore' : 'answer');
    alice.openConversation('g_1').markRead(1);
    await until(() => server.callsOf('MarkRead').length === 1);
    server.fate = () => 'answer';
    server.cut();
    await until(() => server.chat.get('g_1').read.get('alice') === 1);
  });
});

test('events reach a listener as they come, and a listener that throws disturbs nobody', async () => {
  const server = await startServer();
  server.chat.add('g_1', 'alice', 'bob');
  const alice = await online(server, 'alice');
  const seen: QimEvent['kind'][] = [];
  const stop = alice.onEvent((event) => seen.push(event.kind));
  server.say('g_1', 'bob');
  await until(() => seen.length === 1);
  stop();
  server.say('g_1', 'bob');
  await until(() => (alice.conversations.snapshot().conversations[0] as { unreadCount?: number }).unreadCount === 2);
  expect(seen).toEqual(['messageCommitted']);
});

test('a snapshot stays the same object until something changes', async () => {
  const server = await startServer();
  server.chat.add('g_1', 'alice');
  const alice = await online(server, 'alice');
  const open = alice.openConversation('g_1');
  await until(() => open.snapshot().status === 'ready');
  expect(open.snapshot()).toBe(open.snapshot());
  expect(alice.conversations.snapshot()).toBe(alice.conversations.snapshot());
});

test('fields of a call that no server would take are refused by name, before they are sent', async () => {
  const server = await startServer();
  const alice = await online(server, 'alice');
  await expect(alice.markRead('g_1', 1.5)).rejects.toMatchObject({ reason: 'INVALID_ARGUMENT', field: 'readConversationSeq' });
  await expect(alice.readHistory({ conversationId: 'g_1', afterSeq: 1, beforeSeq: 2 })).rejects.toMatchObject({ field: 'beforeSeq' });
  expect(server.callsOf('MarkRead')).toEqual([]);
});
