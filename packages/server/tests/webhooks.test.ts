/** Whole servers and a real receiver over HTTP: what is told arrives signed, in order, and once the receiver is back. */
import { createHmac } from 'node:crypto';
import { openMemoryStore } from '@qim/store/memory';
import { expect, test } from 'vitest';
import { minuteWithoutReceiver } from './webhook-minute.js';
import { eventually, HOOK_SECRET, secretFile, send, startReceiver, startWithWebhook, type Told } from './webhook-receiver.js';

const PREVIOUS = 'the previous secret of the webhook, long enough';

const signed = (secret: string, { headers, text }: Told) =>
  `v1=${createHmac('sha256', secret)
    .update(`${String(headers['qim-webhook-timestamp'])}.${text}`)
    .digest('hex')}`;

test('a message is told with its signature, by both secrets while there are two, and who is away with the badge', async () => {
  const { told, url } = await startReceiver();
  const server = await startWithWebhook({ webhookUrl: url, webhookSecretFile: await secretFile(HOOK_SECRET, PREVIOUS) });
  await send(server, 'alice', { toUserId: 'bob' });
  await send(server, 'alice', { toUserId: 'bob', text: 'another' });
  await eventually(() => expect(told).toHaveLength(4));
  for (const one of told) {
    expect(one.headers['qim-webhook-signature']).toBe(`${signed(HOOK_SECRET, one)},${signed(PREVIOUS, one)}`);
    expect(one.headers['qim-webhook-id']).toBe(one.body.id);
    expect(Math.abs(Number(one.headers['qim-webhook-timestamp']) * 1_000 - Date.now())).toBeLessThan(60_000);
    expect(one.headers['content-type']).toBe('application/json');
  }
  expect(told.map(({ body }) => [body.type, body.message.conversationSeq])).toEqual([
    ['afterSend', '1'],
    ['offlinePush', '1'],
    ['afterSend', '2'],
    ['offlinePush', '2'],
  ]);
  expect(told[0]?.body).toMatchObject({ change: 'sent', tenantId: 0, message: { text: 'a secret', senderUserId: 'alice' } });
  const totals = await server.call('qim.v1.SessionService/GetTotals', await server.token({ user: 'bob' }), {});
  expect(told[3]?.body.recipients).toEqual([{ userId: 'bob', badge: await totals.json() }]);
  expect(told[3]?.body.recipients?.[0]?.badge).toMatchObject({ unreadCount: 2, exact: true });
});

test('a receiver that is down for a minute under load: nothing is lost, the order holds, and what it refuses is listed', async () => {
  await minuteWithoutReceiver(openMemoryStore({ now: Date.now }), 100);
});

test('the receiver is asked before a message or an edit, and its no is the answer to the sender', async () => {
  const { told, url, answering } = await startReceiver();
  const server = await startWithWebhook({ beforeSendUrl: url });
  answering(({ body }) => [200, JSON.stringify({ allow: body.message.text !== 'rude' })]);
  const said = await send(server, 'alice', { toUserId: 'bob', text: 'kind' });
  expect(said.status).toBe(200);
  const { message } = (await said.json()) as { message: { conversationId: string; conversationSeq: string; messageId: string } };
  const denied = await send(server, 'alice', { toUserId: 'bob', text: 'rude' });
  expect([denied.status, await denied.text()]).toEqual([403, expect.stringContaining('FORBIDDEN')]);
  const place = { conversationId: message.conversationId, conversationSeq: message.conversationSeq, messageId: message.messageId };
  const edit = await server.call('qim.v1.MessageService/EditMessage', await server.token({ user: 'alice' }), { ...place, text: 'rude' });
  expect(edit.status).toBe(403);
  expect(told.map(({ body }) => [body.type, body.action])).toEqual([
    ['beforeSend', 'send'],
    ['beforeSend', 'send'],
    ['beforeSend', 'edit'],
  ]);
  expect(told.map(({ headers }) => headers['qim-webhook-signature'])).toEqual(told.map((one) => signed(HOOK_SECRET, one)));
  const list = await server.call('qim.v1.SessionService/ListConversations', await server.token({ user: 'bob' }), {});
  expect(await list.text()).not.toContain('rude');
});

test('who is no member is not asked about, and learns nothing else than without a webhook', async () => {
  const { told, url } = await startReceiver();
  const server = await startWithWebhook({ beforeSendUrl: url });
  const answer = await send(server, 'mallory', { conversationId: 'g_unknown' });
  expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('NOT_MEMBER')]);
  expect(told).toEqual([]);
});

test.each([
  ['closed', 503],
  ['open', 200],
] as const)('no answer, a redirect, an error and no clear yes are all decided by the setting: %s', async (beforeSendFailure, status) => {
  const elsewhere = await startReceiver();
  const { url, down, answering } = await startReceiver();
  const server = await startWithWebhook({ beforeSendUrl: url, beforeSendFailure, beforeSendTimeout: '100ms' });
  const answers = ['never', [307, '', elsewhere.url], [500, '{"allow":true}'], [200, 'yes'], [200, '{"allow":"true"}']] as const;
  for (const answer of answers) {
    answering(() => answer);
    expect((await send(server, 'alice', { toUserId: 'bob' })).status, String(answer)).toBe(status);
  }
  await down();
  expect((await send(server, 'alice', { toUserId: 'bob' })).status).toBe(status);
  expect(elsewhere.told).toEqual([]);
});

test('a retry of what was sent is answered although the receiver says no by then', async () => {
  const { url, answering } = await startReceiver();
  const server = await startWithWebhook({ beforeSendUrl: url });
  const body = { toUserId: 'bob', clientMessageId: 'once' };
  expect((await send(server, 'alice', body)).status).toBe(200);
  answering(() => [200, '{"allow":false}']);
  const retry = await send(server, 'alice', body);
  expect([retry.status, await retry.json()]).toEqual([200, expect.objectContaining({ duplicate: true })]);
});
