/** Something of everything that a store keeps, put into it by a whole server. */
import { createECDH, generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LEGACY_TENANT_ID, parseConversationId, parseDeviceId, parseUserId } from '@qim/proto';
import { openStore } from '@qim/server';
import { type StoreLocation, skipSequences } from '@qim/store/testing';
import { Caller } from '../testing/caller.js';
import { devToken, type RealServer, startRealServer } from '../testing/real-server.js';

/** The folder of the embedded store's `qim serve`, or of nothing but the --dev secret. */
export interface Filled {
  readonly data: string;
  /** Ends the server and removes the folder. */
  readonly end: () => Promise<void>;
}

export const USERS = ['alice', 'bob', 'carol', 'dave', 'erin'].map((name) => parseUserId(name));

/** A suspended device of dave's. */
export const LOST_PHONE = parseDeviceId('lost phone');

/** `store` as on the command line. The server has stopped when this resolves. */
export async function fillStore(store: string): Promise<Filled> {
  const files = await startRealServer({}, { store });
  await files.stop();
  await writeFile(join(files.data, 'hook-secret'), `${'s'.repeat(40)}\n`);
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'pkcs8' });
  await writeFile(join(files.data, 'vapid.pem'), key);
  const server = await startRealServer(
    {},
    {
      store,
      data: files.data,
      // Where nobody listens, so that the queue has something.
      webhookUrl: 'http://127.0.0.1:1/',
      webhookSecretFile: join(files.data, 'hook-secret'),
      vapidKeyFile: join(files.data, 'vapid.pem'),
      vapidSubject: 'mailto:ops@chat.example',
    },
  );
  try {
    await talk(server, { store, data: files.data });
    await delivered(server);
  } finally {
    await server.stop();
  }
  await keepOut(store, files.data);
  return {
    data: files.data,
    end: async () => {
      await server.end();
      await files.end();
    },
  };
}

interface Sent {
  readonly conversationId: string;
  readonly conversationSeq: string;
  readonly messageId: string;
}

async function callers(server: RealServer) {
  const [alice, bob, carol, dave, erin] = await Promise.all(
    USERS.map(async (user) => new Caller(server.url, await devToken(server.url, user, `${user}'s phone`))),
  );
  if (!alice || !bob || !carol || !dave || !erin) throw new Error('there are five');
  return { alice, bob, carol, dave, erin };
}

let sent = 0;
async function say(by: Caller, body: object): Promise<Sent> {
  sent += 1;
  const given = {
    clientMessageId: `c${sent}`,
    type: 'MESSAGE_TYPE_TEXT',
    ...('content' in body ? {} : { text: `message ${sent}` }),
    ...body,
  };
  const { message } = await by.call('MessageService/SendMessage', given);
  const { conversationId, conversationSeq, messageId } = message as Sent;
  return { conversationId, conversationSeq, messageId };
}

async function talk(server: RealServer, location: StoreLocation): Promise<void> {
  const { alice, bob, carol, dave, erin } = await callers(server);
  const made = await alice.call('ConversationService/CreateGroup', { title: 'Gruppe 组 "1"', memberIds: ['bob', 'carol', 'dave'] });
  const { conversationId: group } = made.conversation as { conversationId: string };
  const first = await say(alice, { conversationId: group, text: 'first', mentionUserIds: ['bob'] });
  await say(bob, { conversationId: group, text: 'a body apart: '.repeat(200), replyTo: ref(first) });
  await say(carol, { conversationId: group, type: 'MESSAGE_TYPE_IMAGE', content: { contentType: 'image/png', data: 'AAECAwQ=' } });
  await skipSequences(location, { tenantId: LEGACY_TENANT_ID, conversationId: parseConversationId(group), count: 3 });
  const [edited, recalled, deleted, liked] = [
    await say(bob, { conversationId: group }),
    await say(bob, { conversationId: group, text: 'nobody is to read this' }),
    await say(carol, { conversationId: group, mentionAll: true }),
    await say(carol, { conversationId: group }),
  ];
  await bob.call('MessageService/EditMessage', { ...edited, text: 'edited', mentionUserIds: ['alice'] });
  await bob.call('MessageService/RecallMessage', recalled);
  await alice.call('MessageService/DeleteMessage', deleted);
  for (const by of [alice, dave]) await by.call('MessageService/SetReaction', { ...liked, emoji: '👍', on: true });
  await alice.call('ConversationService/SetRole', { conversationId: group, userId: 'bob', role: 'ROLE_ADMIN' });
  await alice.call('ConversationService/AddMembers', { conversationId: group, memberIds: ['erin'] });
  await dave.call('ConversationService/LeaveGroup', { conversationId: group });
  await alice.call('ConversationService/UpdateConversation', { conversationId: group, title: 'renamed' });
  const direct = await say(alice, { toUserId: 'bob' });
  for (let n = 0; n < 12; n += 1) await say(n % 3 === 0 ? bob : alice, { conversationId: direct.conversationId });
  await say(carol, { toUserId: 'carol', text: 'a note to self' });
  await say(dave, { toUserId: 'erin' });
  const { conversationId } = direct;
  await bob.call('SessionService/MarkRead', { conversationId, readConversationSeq: '7' });
  await alice.call('SessionService/SetConversationFlags', { conversationId, pinned: true, markedUnread: true });
  await bob.call('SessionService/SetConversationFlags', { conversationId: group, muted: true });
  await carol.call('SessionService/ClearHistory', { conversationId: group, upToSeq: first.conversationSeq });
  await alice.call('ProfileService/SetProfile', { displayName: 'Alice "é" 用户', avatarUrl: 'https://chat.example/a.png' });
  await erin.call('ModerationService/BlockUser', { userId: 'dave' });
  await bob.call('ModerationService/ReportMessage', { ...first, comment: 'rude' });
  await bob.call('PushService/RegisterWebPush', {
    endpoint: 'https://push.example/bobs',
    p256dh: createECDH('prime256v1').generateKeys('base64url'),
    auth: Buffer.alloc(16, 7).toString('base64url'),
  });
}

function ref({ conversationSeq, messageId }: Sent): object {
  return { conversationSeq, messageId };
}

/** Until nothing waits in the outbox. */
async function delivered(server: RealServer): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const text = await (await fetch(new URL('/metrics', server.url))).text();
    if (/^qim_outbox_entries 0$/m.test(text)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the outbox was not delivered');
}

async function keepOut(store: string, data: string): Promise<void> {
  const opened = await openStore({ store: store === 'embedded' ? 'embedded' : { href: store, host: store }, data }, { as: 'beside' });
  await opened.users.suspend(LEGACY_TENANT_ID, parseUserId('dave'), LOST_PHONE, true);
  await opened.close();
}
