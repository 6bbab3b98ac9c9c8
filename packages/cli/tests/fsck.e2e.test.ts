/** The command as a process of its own, beside a server that commits, delivers, edits, and takes people in and out. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { loadConfig, type RunningServer, serverIo, startServer } from '@qim/server';
import { type RedisServer, startRedis } from '@qim/store/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from './calling.js';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const WORKERS = 4;
const RUNS = 2;

let server: RunningServer | undefined;
let redis: RedisServer | undefined;
afterEach(async () => {
  await server?.stop();
  await redis?.stop();
  server = undefined;
  redis = undefined;
});

interface Ran {
  readonly code: number;
  readonly out: string;
}

async function fsck(data: string, store: string): Promise<Ran> {
  const args = ['--conditions=@qim/source', '--import', 'tsx', MAIN, 'fsck', '--json', '--data', data, '--store', store];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed: Promise<readonly unknown[]> = once(child, 'close');
  const [out, [code]] = await Promise.all([text(child.stdout), closed]);
  return { code: Number(code), out };
}

async function call(method: string, token: string, body: object): Promise<Record<string, Record<string, unknown>>> {
  const answer = await fetch(`http://127.0.0.1:${server?.port}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
  return (await answer.json()) as Record<string, Record<string, unknown>>;
}

async function login(user: string): Promise<string> {
  return String((await call('dev/login', '', { user })).token);
}

/** One person who talks to the next, edits, recalls, reads, and takes a third one in and out of a group. */
async function talk(number: number, going: () => boolean): Promise<number> {
  const token = await login(`user-${number}`);
  const made = await call('qim.v1.ConversationService/CreateGroup', token, { title: 'group', memberIds: ['user-90'] });
  const conversationId = made.conversation?.conversationId;
  let sent = 0;
  for (; going(); sent += 1) {
    const said = { clientMessageId: randomUUID(), type: 'MESSAGE_TYPE_TEXT', text: sent % 20 === 0 ? 'long '.repeat(500) : `text ${sent}` };
    const { message } = await call('qim.v1.MessageService/SendMessage', token, { toUserId: `user-${(number + 1) % WORKERS}`, ...said });
    const place = { conversationId: message?.conversationId, conversationSeq: message?.conversationSeq, messageId: message?.messageId };
    if (sent % 3 === 0) await call('qim.v1.MessageService/EditMessage', token, { ...place, text: 'edited' });
    if (sent % 7 === 0) await call('qim.v1.MessageService/RecallMessage', token, place);
    await call('qim.v1.SessionService/MarkRead', token, { ...place, readConversationSeq: place.conversationSeq });
    if (sent % 5 !== 0) continue;
    await call('qim.v1.ConversationService/AddMembers', token, { conversationId, memberIds: [`user-${91 + number}`] });
    await call('qim.v1.MessageService/SendMessage', token, { conversationId, ...said, clientMessageId: randomUUID() });
    await call('qim.v1.ConversationService/RemoveMember', token, { conversationId, userId: `user-${91 + number}` });
  }
  return sent;
}

describe.each(['embedded', 'redis'])('beside a busy server on %s', (store) => {
  test('qim fsck finds nothing while it goes on, nor when all has come to rest', async () => {
    const data = await temporaryFolder();
    redis = store === 'redis' ? await startRedis() : undefined;
    const url = redis?.url ?? store;
    const config = loadConfig({ flags: { dev: 'true', port: '0', data, store: url, logLevel: 'error' }, environment: {} });
    server = await startServer(config, serverIo({ out: () => {}, err: () => {} }));
    let going = true;
    const talking = Array.from({ length: WORKERS }, (_, n) => talk(n, () => going));
    for (let run = 0; run < RUNS; run += 1) {
      const { code, out } = await fsck(data, url);
      expect([code, out]).toEqual([0, expect.stringMatching(/"findings":0,[^\n]*\n$/)]);
    }
    going = false;
    expect(Math.min(...(await Promise.all(talking)))).toBeGreaterThan(10);
    await server.stop();
    const { code, out } = await fsck(data, url);
    expect([code, out]).toEqual([0, expect.stringMatching(/^\{"event":"summary","finished":true,[^\n]*"findings":0,[^\n]*\n$/)]);
  });
});
