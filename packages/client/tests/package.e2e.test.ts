/** The packed SDK in projects that know nothing of the repository, against the real server. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from '@qim/client';
import type { Browser } from 'playwright-core';
import { build, type PreviewServer, preview } from 'vite';
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

describe('a fresh Vite project', () => {
  let browser: Browser;
  let served: PreviewServer;

  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
    await served.close();
  });

  test('builds, and the ten lines of the README send and receive in a browser', async () => {
    const fresh = await project([]);
    await fresh.write('index.html', '<!doctype html><title>fresh</title><script type="module" src="/main.js"></script>');
    await fresh.write('main.js', (await exampleOf(README)).replaceAll('alice', 'alice-in-vite'));
    const common = { root: fresh.folder, configFile: false, logLevel: 'error' } as const;
    await build(common);
    const proxy = { '/dev/login': { target: server.url }, '/ws': { target: server.url.replace('http', 'ws'), ws: true } };
    served = await preview({ ...common, preview: { port: 0, host: '127.0.0.1', proxy } });
    const page = await browser.newPage();
    let said = '';
    page.on('console', (message) => (said += `${message.text()}\n`));
    page.on('pageerror', (error) => (said += String(error)));
    const address = served.httpServer.address();
    if (address === null || typeof address === 'string') throw new Error('the preview listens on a port');
    await page.goto(`http://127.0.0.1:${address.port}`);
    await talkWith(() => said);
  });
});

test('the report on the public types names no generated type and no bigint', async () => {
  const report = await readFile(join(ROOT, 'packages/client/api/index.api.md'), 'utf8');
  expect(report).not.toMatch(/bigint|@qim\/proto|bufbuild|_pb|Schema/);
});
