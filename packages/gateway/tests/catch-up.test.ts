/** CatchUp and ClearHistory as JSON: what is printed, and what a reset leaves out. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, refusal } from './support/http.js';
import { startServer, type TestServer } from './support/server.js';

let server: TestServer;
let alice: string;
let bob: string;
let conversationId: string;

beforeAll(async () => {
  server = await startServer();
  [alice, bob] = [await server.token('alice'), await server.token('bob')];
  const { message } = (await send('first', { toUserId: 'bob' })).body;
  conversationId = message.conversationId;
  for (const text of ['second', 'third']) await send(text, { conversationId });
});
afterAll(() => server.close());

function send(text: string, target: { toUserId: string } | { conversationId: string }) {
  return call(server.url, 'MessageService/SendMessage', alice, { ...target, clientMessageId: text, type: 'MESSAGE_TYPE_TEXT', text });
}

const catchUp = (body: object, token = bob) => call(server.url, 'SessionService/CatchUp', token, { conversationId, ...body });

it('prints what is new, what was amended, and the next cursors', async () => {
  const history = await call(server.url, 'SessionService/ReadHistory', bob, { conversationId });
  const { messageId } = history.body.messages[0];
  await call(server.url, 'MessageService/EditMessage', alice, { conversationId, conversationSeq: '1', messageId, text: 'better' });
  const { status, body } = await catchUp({ epoch: '1', afterSeq: '2', amendmentCursor: '0' });
  expect(status).toBe(200);
  expect(body).toMatchObject({ hasMore: false, nextAfterSeq: '3', nextAmendmentCursor: '1', epoch: '1', reset: false });
  expect(body.messages.map((message: { text: string }) => message.text)).toEqual(['third']);
  expect(body.amended).toMatchObject([{ text: 'better', status: 'MESSAGE_STATUS_EDITED', conversationSeq: '1' }]);
});

it('says reset for another epoch, with no message and no cursor', async () => {
  const { body } = await catchUp({ epoch: '9', afterSeq: '1' });
  expect(body).toEqual({ messages: [], amended: [], hasMore: false, nextAfterSeq: '0', nextAmendmentCursor: '0', epoch: '1', reset: true });
});

it('refuses what is out of range by the field as the API spells it', async () => {
  for (const [field, value] of [
    ['epoch', '-1'],
    ['afterSeq', '9007199254740992'],
    ['amendmentCursor', '-1'],
    ['limit', 201],
  ] as const) {
    expect(refusal(await catchUp({ [field]: value }))).toMatchObject({ status: 400, reason: 'INVALID_ARGUMENT', field });
  }
});

it('clears for the caller, and gives an outsider the one answer', async () => {
  const clear = (token: string) => call(server.url, 'SessionService/ClearHistory', token, { conversationId, upToSeq: '2' });
  expect(await clear(bob)).toMatchObject({ status: 200, body: {} });
  const after = await catchUp({ epoch: '1', afterSeq: '0' });
  expect(after.body.messages.map((message: { text: string }) => message.text)).toEqual(['third']);
  expect((await catchUp({ epoch: '1' }, alice)).body.messages).toHaveLength(3);
  const eve = await server.token('eve');
  expect(refusal(await clear(eve))).toMatchObject({ status: 404, reason: 'NOT_MEMBER' });
  expect(refusal(await catchUp({}, eve))).toMatchObject({ status: 404, reason: 'NOT_MEMBER' });
});
