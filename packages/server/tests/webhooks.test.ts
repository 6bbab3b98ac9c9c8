/** Whole servers and a real receiver over HTTP: what is told arrives signed, in order, and once the receiver is back. */
import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openMemoryStore } from '@qim/store/memory';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Clock, realClock } from '../src/clock.js';
import { startTestServer, type TestServer, temporaryFolder } from './running.js';

const SECRET = 'the present secret of the webhook, long enough';
const PREVIOUS = 'the previous secret of the webhook, long enough';

interface Told {
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  readonly body: {
    readonly type: string;
    readonly id: string;
    readonly change?: string;
    readonly action?: string;
    readonly message: { readonly conversationId: string; readonly conversationSeq: string; readonly text?: string };
    readonly recipients?: readonly { readonly userId: string; readonly badge: { readonly unreadCount: number; readonly exact: boolean } }[];
  };
}

/** Answers by `answer`; `down` closes it, so that nobody answers, and `up` opens it again at the same port. */
async function receiver() {
  const told: Told[] = [];
  let answer: (told: Told) => readonly [status: number, body: string, location?: string] | 'never' = () => [200, '{"allow":true}'];
  let server: Server | undefined;
  let port = 0;
  const up = async () => {
    server = createServer((request, response) => void taken(request, response));
    await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  };
  const taken = async (request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString();
    const one: Told = { headers: request.headers, text, body: JSON.parse(text) as Told['body'] };
    const given = answer(one);
    if (given === 'never') return;
    // As docs/webhooks.md says: what comes again, because a partition went to another owner, has the id that it had.
    if (given[0] < 300 && !told.some(({ body }) => body.id === one.body.id)) told.push(one);
    response.writeHead(given[0], given[2] === undefined ? {} : { location: given[2] }).end(given[1]);
  };
  const down = async () => {
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve) ?? resolve(undefined));
  };
  await up();
  onTestFinished(down);
  return { told, up, down, url: `http://127.0.0.1:${port}/hook`, answering: (next: typeof answer) => (answer = next) };
}

async function secretFile(...secrets: string[]): Promise<string> {
  const { folder, remove } = await temporaryFolder();
  onTestFinished(remove);
  const file = join(folder, 'webhook-secret');
  await writeFile(file, `${secrets.join('\n')}\n`);
  return file;
}

async function serve(flags: Parameters<typeof startTestServer>[0], more: Parameters<typeof startTestServer>[1] = {}) {
  const server = await startTestServer({ webhookSecretFile: await secretFile(SECRET), ...flags }, more);
  onTestFinished(() => server.stop());
  return server;
}

async function send(server: TestServer, user: string, body: object): Promise<Response> {
  const given = { clientMessageId: crypto.randomUUID(), type: 'MESSAGE_TYPE_TEXT', text: 'a secret', ...body };
  return server.call('qim.v1.MessageService/SendMessage', await server.token({ user }), given);
}

async function eventually(check: () => void | Promise<void>) {
  await vi.waitFor(check, { timeout: 60_000, interval: 20 });
}

const signed = (secret: string, { headers, text }: Told) =>
  `v1=${createHmac('sha256', secret)
    .update(`${String(headers['qim-webhook-timestamp'])}.${text}`)
    .digest('hex')}`;

test('a message is told with its signature, by both secrets while there are two, and who is away with the badge', async () => {
  const { told, url } = await receiver();
  const server = await serve({ webhookUrl: url, webhookSecretFile: await secretFile(SECRET, PREVIOUS) });
  await send(server, 'alice', { toUserId: 'bob' });
  await send(server, 'alice', { toUserId: 'bob', text: 'another' });
  await eventually(() => expect(told).toHaveLength(4));
  for (const one of told) {
    expect(one.headers['qim-webhook-signature']).toBe(`${signed(SECRET, one)},${signed(PREVIOUS, one)}`);
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
  const { told, url, up, down, answering } = await receiver();
  // A minute is as long as it takes to run: the clock of the delivery goes twenty times as fast.
  const base = performance.now();
  const monotonicNow = () => (performance.now() - base) * 20;
  const sleep: Clock['sleep'] = (ms, signal) => realClock.sleep(ms / 20, signal);
  const store = openMemoryStore({ now: Date.now });
  const server = await serve(
    { webhookUrl: url, webhookEvents: 'afterSend', logLevel: 'info', pushLease: '15s' },
    { store, monotonicNow, sleep },
  );
  answering(({ body }) => (body.message.text === 'refuse me' ? [422, ''] : [200, '']));
  const users = ['bob', 'carol', 'dave', 'erin'];
  const SENT_PER_USER = 100;
  /** 1: each of them has one more. */
  const say = async (text: string) => {
    const answers = await Promise.all(users.map((user) => send(server, 'alice', { toUserId: user, text })));
    expect(answers.map(({ status }) => status)).toEqual(users.map(() => 200));
    return 1;
  };
  await say('before');
  await eventually(() => expect(told).toHaveLength(4));
  await down();
  const downAtMs = monotonicNow();
  let sent = 1;
  // As many as a sender may have in a minute, and then the rest of the minute.
  while (sent < SENT_PER_USER || monotonicNow() - downAtMs < 60_000) {
    if (sent < SENT_PER_USER) sent += await say(sent === 20 ? 'refuse me' : `message ${sent}`);
    else await sleep(1_000);
  }
  expect((await store.hooks.backlog()).waiting).toBeGreaterThan(0);
  await up();
  await eventually(async () => {
    expect(await store.hooks.backlog()).toMatchObject({ waiting: 0, dead: 4 });
    expect(told).toHaveLength(4 * (sent - 1));
  });
  const expected = Array.from({ length: sent }, (_, i) => String(i + 1)).filter((seq) => seq !== '21');
  const conversations = new Set(told.map(({ body }) => body.message.conversationId));
  expect(conversations.size).toBe(4);
  for (const id of conversations) {
    const seqs = told.filter(({ body }) => body.message.conversationId === id).map(({ body }) => body.message.conversationSeq);
    expect(seqs).toEqual(expected);
  }
  const dead = await store.hooks.dead(10);
  expect(dead.map(({ reason, about }) => [reason, about?.conversationSeq])).toEqual(Array.from({ length: 4 }, () => ['refused 422', 21]));
  const logged = server.lines.err.join('\n');
  expect(logged).toContain('dead letter');
  for (const secret of ['refuse me', 'message 1', SECRET]) expect(logged).not.toContain(secret);
});

test('the receiver is asked before a message or an edit, and its no is the answer to the sender', async () => {
  const { told, url, answering } = await receiver();
  const server = await serve({ beforeSendUrl: url });
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
  expect(told.map(({ headers }) => headers['qim-webhook-signature'])).toEqual(told.map((one) => signed(SECRET, one)));
  const list = await server.call('qim.v1.SessionService/ListConversations', await server.token({ user: 'bob' }), {});
  expect(await list.text()).not.toContain('rude');
});

test('who is no member is not asked about, and learns nothing else than without a webhook', async () => {
  const { told, url } = await receiver();
  const server = await serve({ beforeSendUrl: url });
  const answer = await send(server, 'mallory', { conversationId: 'g_unknown' });
  expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('NOT_MEMBER')]);
  expect(told).toEqual([]);
});

test.each([
  ['closed', 503],
  ['open', 200],
] as const)('no answer, a redirect, an error and no clear yes are all decided by the setting: %s', async (beforeSendFailure, status) => {
  const elsewhere = await receiver();
  const { url, down, answering } = await receiver();
  const server = await serve({ beforeSendUrl: url, beforeSendFailure, beforeSendTimeout: '100ms' });
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
  const { url, answering } = await receiver();
  const server = await serve({ beforeSendUrl: url });
  const body = { toUserId: 'bob', clientMessageId: 'once' };
  expect((await send(server, 'alice', body)).status).toBe(200);
  answering(() => [200, '{"allow":false}']);
  const retry = await send(server, 'alice', body);
  expect([retry.status, await retry.json()]).toEqual([200, expect.objectContaining({ duplicate: true })]);
});
