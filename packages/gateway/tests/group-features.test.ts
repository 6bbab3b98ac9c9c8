/** Reactions, roles, title and settings, as JSON over both transports, and what the members' devices are told. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { call, type JsonObject, refusal } from './support/http.js';
import { startServer, type TestServer } from './support/server.js';
import { JsonSocket } from './support/socket.js';

const UP = '\u{1F44D}';

let server: TestServer;
let alice: string;
let bob: string;
let conversationId: string;

beforeAll(async () => {
  server = await startServer();
  [alice, bob] = [await server.token('alice'), await server.token('bob')];
});
afterAll(() => server.close());
beforeEach(async () => {
  const created = await call(server.url, 'ConversationService/CreateGroup', alice, { title: 'room', memberIds: ['bob'] });
  conversationId = created.body.conversation.conversationId;
});

async function said(text: string): Promise<JsonObject> {
  const sent = await call(server.url, 'MessageService/SendMessage', alice, {
    ...{ conversationId, clientMessageId: text, text },
    type: 'MESSAGE_TYPE_TEXT',
  });
  const { conversationSeq, messageId } = sent.body.message;
  return { conversationId, conversationSeq, messageId };
}

/** The first event of this kind, of this conversation. */
async function eventOf(socket: JsonSocket, kind: string, fits: (event: JsonObject) => boolean = () => true): Promise<JsonObject> {
  for (;;) {
    const event = (await socket.next()).event?.[kind];
    const at = event?.conversationId ?? event?.message?.conversationId;
    if (at === conversationId && fits(event)) return event;
  }
}

describe('how far the others have read', () => {
  const members = async (readMarks: boolean): Promise<JsonObject> =>
    (await call(server.url, 'ConversationService/ListMembers', alice, { conversationId, readMarks })).body.members;

  it('is told with the members where it was asked for and the setting is on, and is absent otherwise', async () => {
    await said('hello');
    await call(server.url, 'SessionService/MarkRead', bob, { conversationId, readConversationSeq: '2' });
    const plain = [
      { userId: 'alice', role: 'ROLE_OWNER', joinedSeq: '1' },
      { userId: 'bob', role: 'ROLE_MEMBER', joinedSeq: '1' },
    ];
    expect(await members(true)).toEqual(plain);
    await call(server.url, 'ConversationService/UpdateConversation', alice, { conversationId, readReceipts: true });
    expect(await members(true)).toEqual([plain[0], { ...plain[1], readConversationSeq: '2' }]);
    expect(await members(false)).toEqual(plain);
  });

  it('is told in a direct conversation', async () => {
    const to = { toUserId: 'bob', clientMessageId: 'direct', text: 'x', type: 'MESSAGE_TYPE_TEXT' };
    const sent = await call(server.url, 'MessageService/SendMessage', alice, to);
    conversationId = sent.body.message.conversationId;
    expect(await members(true)).not.toContainEqual(expect.objectContaining({ readConversationSeq: expect.anything() }));
    await call(server.url, 'SessionService/MarkRead', bob, { conversationId, readConversationSeq: '1' });
    expect(await members(true)).toContainEqual(expect.objectContaining({ userId: 'bob', readConversationSeq: '1' }));
  });
});

describe('a reaction', () => {
  it('is told to devices as an amendment, with the message as it is, and is in history and catch-up', async () => {
    const ref = await said('hello');
    const socket = await JsonSocket.signedIn(server.url, await server.token('alice', { device: 'phone' }));
    const { status, body } = await call(server.url, 'MessageService/SetReaction', bob, { ...ref, emoji: UP, on: true });
    expect(status).toBe(200);
    const reactions = [{ emoji: UP, userIds: ['bob'] }];
    expect(body.message).toMatchObject({ ...ref, revision: 0, amendedAtMs: '0', reactions, reactionsRevision: 1 });
    const { message } = await eventOf(socket, 'messageAmended');
    expect(message).toEqual(body.message);
    const history = await call(server.url, 'SessionService/ReadHistory', alice, { conversationId });
    expect(history.body.messages.at(-1)).toEqual(message);
    const missed = { conversationId, epoch: '1', afterSeq: ref.conversationSeq, amendmentCursor: '0' };
    const caughtUp = await call(server.url, 'SessionService/CatchUp', alice, missed);
    expect(caughtUp.body).toMatchObject({ messages: [], amended: [message], nextAmendmentCursor: '1' });
    await socket.close();
  });

  it('leaves the list as it was, and is gone with the content', async () => {
    const ref = await said('hello');
    const list = async () => (await call(server.url, 'SessionService/GetConversation', bob, { conversationId })).body.conversation;
    const before = await list();
    await call(server.url, 'MessageService/SetReaction', bob, { ...ref, emoji: UP, on: true });
    expect(await list()).toEqual({ ...before, amendmentCursor: '1' });
    const recalled = await call(server.url, 'MessageService/RecallMessage', alice, ref);
    expect(recalled.body.message).toMatchObject({ reactions: [], reactionsRevision: 0, revision: 1 });
    const again = await call(server.url, 'MessageService/SetReaction', bob, { ...ref, emoji: UP, on: true });
    expect(refusal(again)).toMatchObject({ status: 400, reason: 'MESSAGE_FINAL' });
  });
});

describe('a reply', () => {
  it('comes with what it replies to in history and catch-up, and with the reference alone elsewhere', async () => {
    const { conversationSeq, messageId } = await said('hello');
    const replyTo = { conversationSeq, messageId };
    const body = { conversationId, clientMessageId: 'r', type: 'MESSAGE_TYPE_TEXT', text: 'hi', replyTo };
    const sent = await call(server.url, 'MessageService/SendMessage', bob, body);
    expect(sent.body.message).toMatchObject({ replyTo });
    expect(sent.body.message).not.toHaveProperty('replyPreview');
    const preview = { ...replyTo, senderUserId: 'alice', snippet: 'hello', truncated: false, status: 'MESSAGE_STATUS_NORMAL' };
    const history = async () => (await call(server.url, 'SessionService/ReadHistory', alice, { conversationId })).body.messages.at(-1);
    expect(await history()).toMatchObject({ replyTo, replyPreview: preview });
    const missed = await call(server.url, 'SessionService/CatchUp', alice, { conversationId, afterSeq: conversationSeq });
    expect(missed.body.messages).toMatchObject([{ replyTo, replyPreview: preview }]);
    await call(server.url, 'MessageService/RecallMessage', alice, { conversationId, ...replyTo });
    expect((await history()).replyPreview).toMatchObject({ snippet: '', status: 'MESSAGE_STATUS_RECALLED' });
    const listed = await call(server.url, 'SessionService/GetConversation', alice, { conversationId });
    expect(JSON.stringify([await history(), listed.body])).not.toContain('hello');
    await call(server.url, 'SessionService/ClearHistory', alice, { conversationId, upToSeq: conversationSeq });
    expect(await history()).not.toHaveProperty('replyPreview');
  });
});

describe('mentions', () => {
  it('count with all of them, once a message, and an edit that takes one away lowers the count', async () => {
    const count = async () => {
      const { body } = await call(server.url, 'SessionService/GetConversation', bob, { conversationId });
      return [body.conversation.unreadCount, body.conversation.mentionCount];
    };
    const mentioning = async (id: string, mentions: JsonObject) => {
      const body = { conversationId, clientMessageId: id, type: 'MESSAGE_TYPE_TEXT', text: id, ...mentions };
      const { message } = (await call(server.url, 'MessageService/SendMessage', alice, body)).body;
      return { conversationId, conversationSeq: message.conversationSeq, messageId: message.messageId };
    };
    const named = await mentioning('named', { mentionUserIds: ['bob', 'carol'] });
    const all = await mentioning('all', { mentionAll: true });
    const both = await mentioning('both', { mentionUserIds: ['bob'], mentionAll: true });
    await mentioning('nobody', { mentionUserIds: ['carol'] });
    expect(await count()).toEqual([4, 3]);
    const edit = (ref: JsonObject, mentions: JsonObject) =>
      call(server.url, 'MessageService/EditMessage', alice, { ...ref, text: 'edited', ...mentions });
    await edit(named, { mentionUserIds: ['carol'] });
    expect(await count()).toEqual([4, 2]);
    await edit(both, { mentionUserIds: ['bob'] });
    expect(await count()).toEqual([4, 2]);
    await edit(all, {});
    expect(await count()).toEqual([4, 1]);
    await edit(all, { mentionUserIds: ['bob'] });
    expect(await count()).toEqual([4, 2]);
    await call(server.url, 'MessageService/RecallMessage', alice, both);
    expect(await count()).toEqual([3, 1]);
    await call(server.url, 'SessionService/MarkRead', bob, { conversationId, readConversationSeq: all.conversationSeq });
    expect(await count()).toEqual([1, 0]);
    const own = await call(server.url, 'SessionService/GetConversation', alice, { conversationId });
    expect(own.body.conversation).toMatchObject({ unreadCount: 0, mentionCount: 0 });
  });
});

describe('a group', () => {
  it('whose role, title or settings change shows it in the timeline, and its members list it again', async () => {
    const socket = await JsonSocket.signedIn(server.url, await server.token('bob', { device: 'phone' }));
    const role = await call(server.url, 'ConversationService/SetRole', alice, { conversationId, userId: 'bob', role: 'ROLE_ADMIN' });
    expect(role.body.conversation).toMatchObject({ conversationId, role: 'ROLE_OWNER', unreadCount: 0 });
    const control = (kind: string) => (event: JsonObject) => event.message.control?.kind === kind;
    const told = await eventOf(socket, 'messageCommitted', control('CONTROL_KIND_ROLE'));
    expect(told.message.control).toMatchObject({ userIds: ['bob'], role: 'ROLE_ADMIN' });
    await eventOf(socket, 'conversationChanged');
    const change = { title: 'renamed', historyVisibility: 'HISTORY_VISIBILITY_ALL', onlyAdminsPost: true, readReceipts: true };
    const updated = await call(server.url, 'ConversationService/UpdateConversation', bob, { conversationId, ...change });
    const { title, ...settings } = change;
    expect(updated.body.conversation).toMatchObject({ title, settings, role: 'ROLE_ADMIN' });
    expect((await eventOf(socket, 'messageCommitted', control('CONTROL_KIND_TITLE'))).message.control).toMatchObject({ title });
    expect((await eventOf(socket, 'messageCommitted', control('CONTROL_KIND_SETTINGS'))).message.control).toMatchObject({ settings });
    await eventOf(socket, 'conversationChanged');
    await socket.close();
  });

  it('keeps an owner', async () => {
    const down = await call(server.url, 'ConversationService/SetRole', alice, { conversationId, userId: 'alice', role: 'ROLE_MEMBER' });
    expect(refusal(down)).toMatchObject({ status: 403, reason: 'FORBIDDEN' });
    await call(server.url, 'ConversationService/SetRole', alice, { conversationId, userId: 'bob', role: 'ROLE_OWNER' });
    expect((await call(server.url, 'ConversationService/LeaveGroup', alice, { conversationId })).status).toBe(200);
    const members = await call(server.url, 'ConversationService/ListMembers', bob, { conversationId });
    expect(members.body.members).toMatchObject([{ userId: 'bob', role: 'ROLE_OWNER' }]);
  });
});
