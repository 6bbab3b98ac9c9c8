/** A backup of the embedded store beside a server under load, and what devices see when it is restored elsewhere. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { loadConfig, type RunningServer, serverIo, startServer } from '@qim/server';
import { afterEach, expect, test, vi } from 'vitest';
import { qim, temporaryFolder } from './calling.js';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const WORKERS = 4;
const PATIENCE = { timeout: 60_000, interval: 10 };
const running = new Set<RunningServer>();
afterEach(async () => {
  for (const server of running) await server.stop();
  running.clear();
});

async function serve(data: string): Promise<RunningServer> {
  const config = loadConfig({ flags: { dev: 'true', port: '0', data, logLevel: 'error' }, environment: {} });
  const server = await startServer(config, serverIo({ out: () => {}, err: () => {} }));
  running.add(server);
  return server;
}

/** Of its own, as an operator's is: two opens of one file in one process would be one. */
async function backUpInAProcess(data: string, to: string): Promise<void> {
  await promisify(execFile)(process.execPath, ['--conditions=@qim/source', '--import', 'tsx', MAIN, 'backup', '--data', data, '--to', to]);
}

type Answer = Readonly<Record<string, unknown>>;

async function call({ url }: RunningServer, path: string, body: object, token = ''): Promise<Answer> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const answer = await fetch(new URL(path, url), { method: 'POST', headers, body: JSON.stringify(body) });
  return (await answer.json()) as Answer;
}

interface Sent {
  readonly clientMessageId: string;
  readonly message: Readonly<Record<'messageId' | 'conversationId' | 'conversationSeq' | 'epoch', string>>;
}

/** One after the other to `to`; each that was acknowledged goes into `sent`. */
async function talk(server: RunningServer, token: string, to: string, sent: Sent[], going: () => boolean): Promise<void> {
  while (going()) {
    const clientMessageId = randomUUID();
    const said = { toUserId: to, clientMessageId, type: 'MESSAGE_TYPE_TEXT', text: 'hello' };
    const { message } = await call(server, 'qim.v1.MessageService/SendMessage', said, token);
    if (message !== undefined) sent.push({ clientMessageId, message: message as Sent['message'] });
  }
}

async function history(server: RunningServer, token: string, conversationId: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (let more = true; more; ) {
    const asked = { conversationId, afterSeq: found.length === 0 ? '0' : found.at(-1)?.split(' ')[0] };
    const page = await call(server, 'qim.v1.SessionService/ReadHistory', { ...asked, limit: 200 }, token);
    for (const each of page.messages as Answer[]) found.push(`${String(each.conversationSeq)} ${String(each.messageId)}`);
    more = page.hasMore === true;
  }
  return found;
}

test('restored elsewhere, a backup under load has all that was acknowledged before it, doubles nothing, and devices begin anew', async () => {
  const [data, copy] = [await temporaryFolder(), join(await temporaryFolder(), 'copy')];
  const old = await serve(data);
  const token = String((await call(old, 'dev/login', { user: 'alice' })).token);
  const chats = Array.from({ length: WORKERS }, (): Sent[] => []);
  let going = true;
  const talking = chats.map((sent, i) => talk(old, token, `bob-${i}`, sent, () => going));
  await vi.waitFor(() => expect(Math.min(...chats.map((sent) => sent.length))).toBeGreaterThan(20), PATIENCE);
  const before = chats.map((sent) => sent.length);
  await backUpInAProcess(data, copy);
  await vi.waitFor(() => expect(chats.every((sent, i) => sent.length > (before[i] ?? 0) + 5)).toBe(true), PATIENCE);
  going = false;
  await Promise.all(talking);
  await old.stop();

  expect(await qim(['fsck', '--new-epoch', '--data', copy])).toMatchObject({ code: 0 });
  expect(await qim(['fsck', '--data', copy])).toMatchObject({ code: 0, out: [expect.stringContaining(' 0 findings')] });
  const restored = await serve(copy);
  const again = String((await call(restored, 'dev/login', { user: 'alice' })).token);
  for (const [i, sent] of chats.entries()) {
    const [first, last] = [sent[0], sent.at(-1)];
    if (first === undefined || last === undefined) throw new Error('each has sent');
    const { conversationId, epoch } = first.message;
    const all = sent.map(({ message }) => `${message.conversationSeq} ${message.messageId}`);
    const kept = await history(restored, again, conversationId);
    expect(kept.length).toBeGreaterThanOrEqual(before[i] ?? 0);
    expect(kept).toEqual(all.slice(0, kept.length));
    // A device that holds what was lost drops it.
    const held = { conversationId, epoch, afterSeq: last.message.conversationSeq, amendmentCursor: '0' };
    expect(await call(restored, 'qim.v1.SessionService/CatchUp', held, again)).toMatchObject({ reset: true });
    // What it sends once more is there once.
    for (const { clientMessageId } of sent) {
      await call(
        restored,
        'qim.v1.MessageService/SendMessage',
        { conversationId, clientMessageId, type: 'MESSAGE_TYPE_TEXT', text: 'hello' },
        again,
      );
    }
    const after = await history(restored, again, conversationId);
    expect(after).toHaveLength(sent.length);
    expect(after.slice(0, kept.length)).toEqual(kept);
    expect(new Set(after).size).toBe(after.length);
    const given = new Set(all.slice(kept.length).map((line) => line.split(' ')[0]));
    expect(after.slice(kept.length).filter((line) => given.has(line.split(' ')[0]))).toEqual([]);
  }
}, 90_000);

test('a backup writes over no store, needs one, and is not for Redis', async () => {
  const data = await temporaryFolder();
  await (await serve(data)).stop();
  const copy = join(data, 'copy');
  expect(await qim(['backup', '--data', data])).toMatchObject({ code: 2 });
  expect(await qim(['backup', '--data', data, '--to', copy])).toMatchObject({ code: 0 });
  expect(await qim(['backup', '--data', data, '--to', copy])).toMatchObject({
    code: 1,
    err: [expect.stringContaining('holds a store already')],
  });
  expect(await qim(['backup', '--data', join(data, 'nothing'), '--to', join(data, 'other')])).toMatchObject({ code: 1 });
  expect(existsSync(join(data, 'other'))).toBe(false);
  expect(await qim(['backup', '--store', 'redis://127.0.0.1:1', '--to', copy])).toMatchObject({
    code: 1,
    err: [expect.stringContaining('BGSAVE')],
  });
});
