/** The tarball of `qim` in a folder that knows nothing of the repository. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packQim } from '../../../tools/qim-package/pack.js';
import { buildPage } from '../../../tools/testing/built-page.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);
const ends: (() => unknown)[] = [];
let folder: string;
let qim: string;

/** What npm does with the tarball and its bundled rooms; what it depends on besides comes by link, so that no network is needed. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qim-installed-'));
  ends.push(() => rm(folder, { recursive: true, force: true }));
  const [page] = await Promise.all([
    buildPage(),
    run(process.execPath, ['node_modules/@typescript/native/bin/tsc', '-b', 'packages/cli'], { cwd: ROOT }),
  ]);
  ends.push(page.remove);
  const tarball = await packQim({ root: ROOT, page: page.folder, out: folder });
  const installed = join(folder, 'node_modules/qim');
  await mkdir(installed, { recursive: true });
  await run('tar', ['xzf', tarball, '--strip-components=1', '-C', installed]);
  const { dependencies } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
  for (const name of Object.keys(dependencies).filter((dependency) => !dependency.startsWith('@qim/'))) {
    const link = join(folder, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(ROOT, 'node_modules', name), link);
  }
  qim = join(installed, 'bin/qim.js');
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

async function serving(...flags: readonly string[]): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const child: ChildProcess = spawn(process.execPath, [qim, 'serve', '--dev', '--port', '0', ...flags], {
    cwd: folder,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  ends.push(() => child.kill('SIGKILL'));
  if (child.stdout === null) throw new Error('its standard output is a pipe');
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^qim ready at (\S+)$/.exec(line)?.[1];
    if (url !== undefined) return { url, stop: () => stopped(child) };
  }
  throw new Error('it ended before it was ready');
}

async function stopped(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}

test('it starts the server, serves the page with all that the page names, and takes a message', async () => {
  const { url, stop } = await serving();
  const page = await (await fetch(url)).text();
  const named = [...page.matchAll(/(?:src|href)="(\.?\/[^"]+)"/g)].map(([, path = '']) => new URL(path, url));
  expect(named.length).toBeGreaterThan(1);
  for (const asset of named) expect((await fetch(asset)).status, asset.pathname).toBe(200);
  const call = async (path: string, body: object, token = ''): Promise<Record<string, unknown>> => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    return (await (await fetch(new URL(path, url), { method: 'POST', headers, body: JSON.stringify(body) })).json()) as Record<
      string,
      unknown
    >;
  };
  const { token } = await call('dev/login', { user: 'alice' });
  const said = { toUserId: 'bob', clientMessageId: '1', type: 'MESSAGE_TYPE_TEXT', text: 'hello' };
  expect(await call('qim.v1.MessageService/SendMessage', said, String(token))).toMatchObject({ duplicate: false });
  await stop();
});

test('every command of it loads, and its store goes into an archive', async () => {
  const { stdout: version } = await run(process.execPath, [qim, '--version']);
  expect(version.trim()).toMatch(/^\d+\.\d+\.\d+$/);
  const { stdout } = await run(process.execPath, [qim, 'export', '--file', 'chat.qim'], { cwd: folder });
  expect(stdout).toContain('exported: 1 conversations');
  const fsck = await run(process.execPath, [qim, 'fsck'], { cwd: folder });
  expect(fsck.stdout).toContain('0 findings');
});

test('nothing of the sources, types or tests is in it', async () => {
  const { stdout } = await run('find', [join(folder, 'node_modules/qim'), '-type', 'f']);
  const files = stdout.trim().split('\n');
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((file) => /\.(?:ts|map|tsbuildinfo)$|\/tests?\/|\/testing\//.test(file))).toEqual([]);
});
