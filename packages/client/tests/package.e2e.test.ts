/** The packed SDK in projects that know nothing of the repository, against the real server. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from '@qim/client';
import type { Page } from 'playwright-core';
import { build, preview } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { devToken, type RealServer, startRealServer } from '../../../tools/testing/real-server.js';
import { launch } from '../../web/tests/support/browser.js';
import { exampleOf, FreshProject, packClient, ROOT } from './support/fresh-project.js';
import { online, until } from './support/setup.js';

const README = 'packages/client/README.md';
let server: RealServer;
let packed: Awaited<ReturnType<typeof packClient>>;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  [server, packed] = await Promise.all([startRealServer(), packClient()]);
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
  await Promise.all([server.end(), packed.remove()]);
});

async function project(tools: readonly string[]): Promise<FreshProject> {
  const made = await FreshProject.make(packed.tarball, tools);
  ends.push(() => made.remove());
  return made;
}

/** Answers what the example sends, and waits until the example has shown both. */
async function talkWith(said: () => string): Promise<void> {
  const bob: Client = await online(server, 'bob', { token: () => devToken(server.url, 'bob') });
  await until(() => bob.conversations.snapshot().conversations.some(({ preview }) => preview?.snippet === 'hello'));
  const [entry] = bob.conversations.snapshot().conversations;
  await bob.sendMessage({ target: { conversationId: entry?.conversationId ?? '' }, content: 'hi alice' });
  await until(() => said().includes('hello, hi alice'));
}

describe('a fresh project in Node', () => {
  test('installs the tarball alone, without the network, and the ten lines of the README send and receive', async () => {
    const fresh = await project(['ws']);
    expect(await fresh.installed()).toEqual(['node_modules/@qim/client']);
    const example = (await exampleOf(README)).replace('http://127.0.0.1:7700', server.url);
    expect(
      example
        .trimEnd()
        .split('\n')
        .filter((line) => line !== '').length,
    ).toBe(10);
    // Node 20, as the README says.
    await fresh.write('main.js', `import { WebSocket } from 'ws';\n${example.replace('account:', 'WebSocket, account:')}`);
    const child: ChildProcess = spawn(process.execPath, ['main.js'], { cwd: fresh.folder, stdio: ['ignore', 'pipe', 'pipe'] });
    ends.push(() => child.kill('SIGKILL'));
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await talkWith(() => said);
  });

  test('type-checks it, hooks included, without any setting that looks away', async () => {
    const fresh = await project(['react', '@types/react']);
    await fresh.write('main.ts', TYPED);
    const compiler = join(ROOT, 'node_modules/@typescript/native/bin/tsc');
    const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--lib', 'es2023,dom'];
    for (const resolution of [
      ['--module', 'nodenext'],
      ['--module', 'esnext', '--moduleResolution', 'bundler'],
    ]) {
      await promisify(execFile)(process.execPath, [compiler, ...options, ...resolution, 'main.ts'], { cwd: fresh.folder });
    }
  });
});

const TYPED = `
import { createClient, type Client, type Conversation } from '@qim/client';
import { QimProvider, useConversation } from '@qim/client/react';
const client: Client = createClient({ url: 'http://127.0.0.1:7700', token: () => 'x' });
const seq: number | undefined = client.conversations.snapshot().conversations.map((one: Conversation) => (one.damaged ? 0 : one.latestConversationSeq))[0];
// @ts-expect-error a sequence is a number
const wrong: string = seq;
export const shown = (id: string): number => useConversation(id).messages.length;
export const provider = QimProvider({ client });
`;

/** Built by Vite and served with the real server behind it, as its own development server would. */
async function inVite(fresh: FreshProject, use: (page: Page) => Promise<void>): Promise<void> {
  const common = { root: fresh.folder, configFile: false, logLevel: 'error' } as const;
  await build(common);
  const proxy = { '/dev/login': { target: server.url }, '/ws': { target: server.url.replace('http', 'ws'), ws: true } };
  const served = await preview({ ...common, preview: { port: 0, host: '127.0.0.1', proxy } });
  const browser = await launch();
  try {
    const page = await browser.newPage();
    const address = served.httpServer.address();
    if (address === null || typeof address === 'string') throw new Error('the preview listens on a port');
    await page.goto(`http://127.0.0.1:${address.port}`);
    await use(page);
  } finally {
    await browser.close();
    await served.close();
  }
}

describe('a fresh Vite project', () => {
  test('builds, and the ten lines of the README send and receive in a browser', async () => {
    const fresh = await project([]);
    await fresh.write('index.html', '<!doctype html><title>fresh</title><script type="module" src="/main.js"></script>');
    await fresh.write('main.js', (await exampleOf(README)).replaceAll('alice', 'alice-in-vite'));
    await inVite(fresh, async (page) => {
      let said = '';
      page.on('console', (message) => (said += `${message.text()}\n`));
      page.on('pageerror', (error) => (said += String(error)));
      await page.reload();
      await talkWith(() => said);
    });
  });
});

describe('the recipes of docs/sdk.md', () => {
  let fresh: FreshProject;
  const recipe = (name: string): Promise<string> => exampleOf('docs/sdk.md', name);

  beforeAll(async () => {
    fresh = await project(['ws', 'react', 'react-dom']);
    await fresh.write('client.js', (await recipe('Connect')).replace('http://127.0.0.1:7700', server.url));
    // Node 20, as the first recipe says.
    await fresh.write('socket.js', `import { WebSocket } from 'ws';\nglobalThis.WebSocket ??= WebSocket;\n`);
  });

  /** Under a user of its own; what it says grows. */
  async function run(name: string, user: string): Promise<{ readonly said: () => string; readonly bob: Client }> {
    const bob: Client = await online(server, `bob-${name}`, { token: () => devToken(server.url, `bob-${name}`) });
    const code = (await recipe(name)).replaceAll(`'${user}'`, `'${user}-${name}'`).replaceAll("'bob'", `'bob-${name}'`);
    await fresh.write(`${name}.js`, code);
    const child = spawn(process.execPath, ['--import', './socket.js', `${name}.js`], {
      cwd: fresh.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    ends.push(() => child.kill('SIGKILL'));
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
    return { said: () => said, bob };
  }

  test('List shows what comes in, with its badge', async () => {
    const { said, bob } = await run('List', 'alice');
    await bob.sendMessage({ target: { toUserId: 'alice-List' }, content: 'tea?' });
    await until(() => said().includes('bob-List: tea? [1]'));
  });

  test('Chat sends, shows the answer and who is writing, and marks it read', async () => {
    const { said, bob } = await run('Chat', 'alice');
    await until(() => bob.conversations.snapshot().conversations[0]?.preview?.snippet === 'hello');
    const conversationId = bob.conversations.snapshot().conversations[0]?.conversationId ?? '';
    bob.openConversation(conversationId).setTyping(true);
    await until(() => said().includes('writing: bob-Chat'));
    await bob.sendMessage({ target: { conversationId }, content: 'hi' });
    await until(() => said().includes('bob-Chat: hi') && said().includes('alice-Chat: hello'));
    const alice = await online(server, 'alice-Chat', { token: () => devToken(server.url, 'alice-Chat') });
    await until(() => (alice.conversations.snapshot().conversations[0] as { unreadCount?: number } | undefined)?.unreadCount === 0);
  });

  test('Badges shows the totals', async () => {
    const { said, bob } = await run('Badges', 'alice');
    await until(() => said().includes('badge: 0, mentions: 0'));
    await bob.sendMessage({ target: { toUserId: 'alice-Badges' }, content: 'look', mentionUserIds: ['alice-Badges'] });
    await until(() => said().includes('badge: 1, mentions: 1'));
  });

  test('Offline sends what was written before there was a link', async () => {
    const { said } = await run('Offline', 'alice');
    await until(() => said().includes('sending: written on a train') && said().includes('arrived as 1'));
  });

  test('Bot answers each message once, also one from before it ran', async () => {
    const early: Client = await online(server, 'early', { token: () => devToken(server.url, 'early') });
    const { message } = await early.sendMessage({ target: { toUserId: 'echo-Bot' }, content: 'are you there' });
    const { said } = await run('Bot', 'echo');
    const open = early.openConversation(message.conversationId);
    const texts = (): string =>
      open
        .snapshot()
        .messages.map(({ content }) => (content.kind === 'text' ? content.text : ''))
        .join();
    await until(() => texts() === 'are you there,you said are you there');
    await early.sendMessage({ target: { conversationId: message.conversationId }, content: 'good' });
    await until(() => texts() === 'are you there,you said are you there,good,you said good');
    expect(said()).toBe('');
  });

  test('React shows what comes in, in a browser', async () => {
    const bob: Client = await online(server, 'bob-React', { token: () => devToken(server.url, 'bob-React') });
    await bob.sendMessage({ target: { toUserId: 'alice-React' }, content: 'from before' });
    await fresh.write('main.jsx', (await recipe('React')).replaceAll("'alice'", "'alice-React'"));
    await fresh.write('index.html', '<!doctype html><title>fresh</title><body></body><script type="module" src="/main.jsx"></script>');
    await inVite(fresh, async (page) => {
      await page.getByText('from before').waitFor();
      await bob.sendMessage({ target: { toUserId: 'alice-React' }, content: 'and now' });
      await page.getByText('and now').waitFor();
    });
  });
});

test('the report on the public types names no generated type and no bigint', async () => {
  const report = await readFile(join(ROOT, 'packages/client/api/index.api.md'), 'utf8');
  expect(report).not.toMatch(/bigint|@qim\/proto|bufbuild|_pb|Schema/);
});
