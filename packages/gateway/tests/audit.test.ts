/** The audit log: who did what to whom, how it ended, and nothing that anybody said. */
import { AUDITED, METHOD_ACCESS, type MethodName } from '@qim/proto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bearer, call, post } from './support/http.js';
import { startServer, type TestServer } from './support/server.js';

let server: TestServer;
let admin: string;
beforeEach(async () => {
  server = await startServer();
  admin = await server.token('backend', { admin: true });
});
afterEach(() => server.close());

const lines = () => server.log.filter(({ fields }) => fields.kind === 'audit').map(({ fields }) => fields);

it('has every method that needs the token of an admin', () => {
  const names = (Object.keys(METHOD_ACCESS) as MethodName[]).filter((name) => METHOD_ACCESS[name] === 'adminToken');
  expect(names.filter((name) => !AUDITED.has(name))).toEqual([]);
});

it('says who was suspended by whom, under the id that the client was told', async () => {
  const { headers } = await call(server.url, 'AdminService/SuspendUser', admin, { userId: 'mallory', deviceId: 'phone', suspended: true });
  expect(lines()).toEqual([
    {
      kind: 'audit',
      requestId: headers.get('qim-request-id'),
      method: 'qim.v1.AdminService/SuspendUser',
      outcome: 'ok',
      tenant: 0,
      by: 'backend',
      about: { userId: 'mallory', deviceId: 'phone', suspended: true },
    },
  ]);
});

it('has what was refused as well, and what moderators of a group do', async () => {
  const alice = await server.token('alice');
  const { body } = await call(server.url, 'ConversationService/CreateGroup', alice, { title: 'secret title', memberIds: ['bob'] });
  const { conversationId } = body.conversation;
  await call(server.url, 'ConversationService/SetRole', await server.token('bob'), { conversationId, userId: 'bob', role: 'ROLE_OWNER' });
  await call(server.url, 'ConversationService/RemoveMember', alice, { conversationId, userId: 'bob' });
  expect(lines()).toMatchObject([
    { method: 'qim.v1.ConversationService/SetRole', outcome: 'Forbidden', by: 'bob', about: { conversationId, userId: 'bob' } },
    { method: 'qim.v1.ConversationService/RemoveMember', outcome: 'ok', by: 'alice', about: { conversationId, userId: 'bob' } },
  ]);
});

it('names both where an admin acts for a user', async () => {
  const headers = { ...bearer(admin), 'Qim-On-Behalf-Of': 'alice' };
  await post(server.url, '/qim.v1.ConversationService/UpdateConversation', '{"conversationId":"g_none","title":"secret title"}', headers);
  expect(lines()).toMatchObject([
    { admin: 'backend', onBehalfOf: 'alice' },
    { by: 'alice', admin: 'backend', outcome: 'NotMember', about: { conversationId: 'g_none' } },
  ]);
});

it('has nothing of what was said, and no more of a wrong id than an id may have', async () => {
  const sent = { conversationId: 'x'.repeat(10_000), clientMessageId: 'c', type: 'MESSAGE_TYPE_TEXT', text: 'secret text' };
  await call(server.url, 'AdminService/SendMessage', admin, sent);
  await call(server.url, 'AdminService/SetProfile', admin, { userId: 'alice', displayName: 'secret name' });
  await call(server.url, 'AdminService/MintToken', admin, { userId: 'alice' });
  expect(lines()).toHaveLength(3);
  const text = JSON.stringify(server.log);
  expect(text).not.toMatch(/secret|eyJ/);
  expect(text).not.toContain('x'.repeat(65));
});
