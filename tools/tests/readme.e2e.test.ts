/** The transcript of README.md, run as it is printed against a server of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asPrinted, commandsOf, normalised, transcriptOf } from '../readme/transcript.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SERVED_AT = /^qim ready at (http:\/\/\S+?)\/?$/;

let data: string;
let server: ChildProcess;
let url: string;

async function startServer(): Promise<string> {
  server = spawn(process.execPath, ['packages/cli/bin/qim.js', 'serve', '--dev', '--port', '0', '--data', data, '--log-level', 'error'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (server.stdout === null) throw new Error('no output');
  for await (const line of createInterface({ input: server.stdout })) {
    const [, at] = SERVED_AT.exec(line) ?? [];
    if (at !== undefined) return at;
  }
  throw new Error('the server ended before it was ready: has it been built?');
}

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'qim-readme-'));
  url = await startServer();
}, 60_000);

afterAll(async () => {
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  await ended;
  await rm(data, { recursive: true, force: true });
});

test('the transcript of README.md, run as it is printed, answers what it prints', async () => {
  const printed = transcriptOf(await readFile(join(ROOT, 'README.md'), 'utf8'));
  expect(commandsOf(printed).length).toBeGreaterThan(8);
  expect(normalised(await asPrinted(commandsOf(printed), url))).toBe(normalised(printed));
});

test('README.zh-CN.md prints the same transcript', async () => {
  const [english, chinese] = await Promise.all(['README.md', 'README.zh-CN.md'].map((name) => readFile(join(ROOT, name), 'utf8')));
  expect(transcriptOf(chinese ?? '')).toBe(transcriptOf(english ?? ''));
});
