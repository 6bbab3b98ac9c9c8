/** The SDK against the real server on the embedded store. The last test kills the built `qim` as a process. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client, Conversation, Message, OpenConversation, QimEvent } from '@qim/client';
import { parseConversationId, parseConversationSeq, parseTenantId } from '@qim/proto';
import { damage } from '@qim/store/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type QimProcess, startQimProcess } from '../../../tools/testing/qim-process.js';
import { devToken, type RealServer, startRealServer } from '../../../tools/testing/real-server.js';
import { online as connect, until } from './support/setup.js';

let server: RealServer;

beforeAll(async () => {
  server = await startRealServer();
});

afterAll(async () => {
  await server.end();
});

function online(user: string, device = `${user}-phone`, url = server.url): Promise<Client> {
  return connect({ url }, user, { token: () => devToken(url, user, device) });
}

const texts = (open: OpenConversation): string[] =>
  open.snapshot().messages.map(({ content }) => (content.kind === 'text' ? content.text : content.kind));

function entryOf(client: Client, conversationId: string): Conversation | undefined {
  return client.conversations.snapshot().conversations.find((entry) => entry.conversationId === conversationId);
}

function unreadOf(client: Client, conversationId: string): string {
  const entry = entryOf(client, conversationId);
  return entry === undefined ? 'not listed' : entry.damaged === undefined ? `${entry.unreadCount} ${entry.unreadExact}` : 'damaged';
}

async function directFrom(sender: Client, toUserId: string, content = 'hello'): Promise<Message> {
  return (await sender.sendMessage({ target: { toUserId }, content })).message;
}

describe('two people', () => {
  test('a message reaches every device of both, and the badge says so', async () => {
    const [alice, alicePad, bob] = await Promise.all([online('alice'), online('alice', 'alice-pad'), online('bob')]);
    const { conversationId } = await directFrom(alice, 'bob');
    for (const client of [bob, alicePad]) await until(() => entryOf(client, conversationId) !== undefined);
    await until(() => unreadOf(bob, conversationId) === '1 true' && unreadOf(alicePad, conversationId) === '0 true');
    const [onPad, onPhone] = [alicePad, bob].map((client) => client.openConversation(conversationId)) as [
      OpenConversation,
      OpenConversation,
    ];
    await until(() => texts(onPad).length === 1 && texts(onPhone).length === 1);
    await bob.sendMessage({ target: { conversationId }, content: 'hi' });
    await until(() => texts(onPad).join() === 'hello,hi');
    await until(() => entryOf(bob, conversationId)?.preview?.snippet === 'hi');
    expect(entryOf(bob, conversationId)).toMatchObject({ kind: 'direct', peerUserId: 'alice' });
  });

  test('reading on one device clears the badge on the other', async () => {
    const [carol, dave, davePad] = await Promise.all([online('carol'), online('dave'), online('dave', 'dave-pad')]);
    const { conversationId, conversationSeq } = await directFrom(carol, 'dave');
    await until(() => unreadOf(davePad, conversationId) === '1 true');
    await until(() => unreadOf(dave, conversationId) === '1 true');
    dave.openConversation(conversationId).markRead(conversationSeq);
    await until(() => unreadOf(davePad, conversationId) === '0 true' && unreadOf(dave, conversationId) === '0 true');
  });

  test('an edit and a recall show on the other side, and leave no text behind', async () => {
    const [erin, frank] = await Promise.all([online('erin'), online('frank')]);
    const sent = await directFrom(erin, 'frank', 'first');
    const open = frank.openConversation(sent.conversationId);
    await until(() => texts(open).length === 1);
    await erin.editMessage({ ...sent, content: 'second' });
    await until(() => texts(open)[0] === 'second' && open.snapshot().messages[0]?.status === 'edited');
    await erin.recallMessage(sent);
    await until(() => open.snapshot().messages[0]?.status === 'recalled');
    await until(() => entryOf(frank, sent.conversationId)?.preview?.status === 'recalled');
    expect(JSON.stringify([open.snapshot(), frank.conversations.snapshot()])).not.toContain('second');
  });
});

test('a group is made, grows, is left and loses members, and each device follows', async () => {
  const [gina, hugo, ivan] = await Promise.all([online('gina'), online('hugo'), online('ivan')]);
  const { conversationId } = await gina.createGroup({ title: 'Tea', memberIds: ['hugo'], historyVisibility: 'all' });
  await until(() => entryOf(hugo, conversationId)?.title === 'Tea');
  const open = gina.openConversation(conversationId);
  await gina.addMembers(conversationId, ['ivan']);
  await until(() => entryOf(ivan, conversationId) !== undefined);
  expect((await ivan.listMembers(conversationId)).members.map(({ userId }) => userId).sort()).toEqual(['gina', 'hugo', 'ivan']);
  const ivansView = ivan.openConversation(conversationId);
  await until(() => ivansView.snapshot().status === 'ready');
  await gina.removeMember(conversationId, 'ivan');
  await until(() => ivansView.snapshot().status === 'removed' && entryOf(ivan, conversationId) === undefined);
  await hugo.leaveGroup(conversationId);
  await until(() => entryOf(hugo, conversationId) === undefined);
  await until(() => open.snapshot().messages.length === 4);
  const kinds = open.snapshot().messages.map(({ content }) => (content.kind === 'control' ? content.control.kind : content.kind));
  expect(kinds).toEqual(['created', 'joined', 'removed', 'left']);
  await expect(ivan.readHistory({ conversationId })).rejects.toMatchObject({ reason: 'NOT_MEMBER', code: 'not_found' });
});

test('a damaged conversation is listed without numbers, and its window says why it shows nothing', async () => {
  const [judy, karl] = await Promise.all([online('judy'), online('karl')]);
  const { conversationId, conversationSeq } = await directFrom(judy, 'karl');
  await until(() => unreadOf(karl, conversationId) === '1 true');
  const target = {
    tenantId: parseTenantId(0),
    conversationId: parseConversationId(conversationId),
    conversationSeq: parseConversationSeq(conversationSeq),
  };
  await damage({ store: 'embedded', data: server.data }, target, 'recordBitFlipped');
  karl.conversations.refresh();
  await until(() => unreadOf(karl, conversationId) === 'damaged');
  expect(entryOf(karl, conversationId)).not.toHaveProperty('unreadCount');
  const open = karl.openConversation(conversationId);
  await until(() => open.snapshot().status === 'error');
  expect(open.snapshot().error).toMatchObject({ reason: 'CORRUPT_RECORD', code: 'data_loss' });
});

test.each([
  ['in the middle', 3, [4, 5], false],
  ['of the newest', 5, [1, 2, 3, 4], true],
])('beside damage %s of a history what is sound shows, and the damage is told', async (where, at, shown, hasNewer) => {
  const [from, to] = [`from-${at}`, `to-${at}`];
  const sender = await online(from);
  const { conversationId } = await directFrom(sender, to, where);
  for (let n = 2; n <= 5; n += 1) await sender.sendMessage({ target: { conversationId }, content: `${n}` });
  const target = {
    tenantId: parseTenantId(0),
    conversationId: parseConversationId(conversationId),
    conversationSeq: parseConversationSeq(at),
  };
  await damage({ store: 'embedded', data: server.data }, target, 'recordBitFlipped');
  const open = (await online(to)).openConversation(conversationId);
  await until(() => open.snapshot().status === 'error');
  const { error, messages, hasNewer: more } = open.snapshot();
  expect(error).toMatchObject({ reason: 'CORRUPT_RECORD' });
  expect([messages.map(({ conversationSeq }) => conversationSeq), more]).toEqual([shown, hasNewer]);
});

test('a device that was away while 300 messages came shows each once, in order', async () => {
  const lena = await online('lena');
  const { conversationId } = await directFrom(lena, 'mike', 'n0');
  // No token, no connection: the device stays away for as long as the test says.
  let letIn: () => void = () => {};
  let away: Promise<void> = Promise.resolve();
  const token = async (): Promise<string> => {
    await away;
    return devToken(server.url, 'mike', 'mike-phone');
  };
  const mike = await connect(server, 'mike', { token });
  const view = mike.openConversation(conversationId);
  await until(() => texts(view).length === 1);
  away = new Promise((resolve) => (letIn = resolve));
  await server.stop();
  await server.start();
  await Promise.all(Array.from({ length: 300 }, (_, n) => lena.sendMessage({ target: { conversationId }, content: `n${n + 1}` })));
  expect([texts(view).length, mike.connection.snapshot().status === 'online']).toEqual([1, false]);
  letIn();
  await until(() => texts(view).length === 301);
  expect(texts(view)).toEqual(Array.from({ length: 301 }, (_, n) => `n${n}`));
  await until(() => unreadOf(mike, conversationId) === '200 false');
});

test('a server that is killed while messages are sent loses and doubles none, and every device goes on', async () => {
  const data = await mkdtemp(join(tmpdir(), 'qim-killed-'));
  const started: QimProcess[] = [];
  const start = async (port: number): Promise<QimProcess> => {
    const made = await startQimProcess(data, port);
    started.push(made);
    return made;
  };
  try {
    const first = await start(0);
    const { url } = first;
    const [nora, otto] = await Promise.all([online('nora', 'nora-phone', url), online('otto', 'otto-phone', url)]);
    const { conversationId } = await directFrom(nora, 'otto', 'n0');
    const open = otto.openConversation(conversationId);
    await until(() => texts(open).length === 1);
    const pushed: QimEvent[] = [];
    otto.onEvent((event) => pushed.push(event));
    const sends = Array.from({ length: 60 }, (_, n) => nora.sendMessage({ target: { conversationId }, content: `n${n + 1}` }));
    await until(() => pushed.length > 10);
    await first.kill();
    await start(Number(new URL(url).port));
    await Promise.all(sends);
    await until(() => texts(open).length === 61);
    expect(texts(open)).toEqual(Array.from({ length: 61 }, (_, n) => `n${n}`));
  } finally {
    for (const one of started) await one.kill();
    await rm(data, { recursive: true, force: true });
  }
});
