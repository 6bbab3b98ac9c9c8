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
    socket.close();
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
    socket.close();
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
