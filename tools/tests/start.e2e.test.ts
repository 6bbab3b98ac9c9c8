/** `npm start` on a small tree of the same shape, with the real npm: when it installs, when it builds, and when neither. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';

const SCRIPTS = fileURLToPath(new URL('../../scripts/', import.meta.url));

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'qim-start-'));
  for (const name of ['start.mjs', 'build-stamp.mjs']) await cp(join(SCRIPTS, name), join(root, 'scripts', name));
  await put('package.json', {
    name: 'tree',
    version: '1.0.0',
    workspaces: ['packages/*'],
    scripts: { start: 'node scripts/start.mjs', build: 'node scripts/build.mjs', postbuild: 'node scripts/build-stamp.mjs' },
  });
  await put('packages/cli/package.json', { name: 'qim', version: '1.0.0', type: 'module' });
  await put('package-lock.json', {
    name: 'tree',
    version: '1.0.0',
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': { name: 'tree', version: '1.0.0', workspaces: ['packages/*'] },
      'node_modules/qim': { resolved: 'packages/cli', link: true },
      'packages/cli': { name: 'qim', version: '1.0.0' },
    },
  });
  await write('acceptance/src/some.ts', '');
  await write('packages/cli/src/main.ts', 'one');
  await write(
    'scripts/build.mjs',
    `import { cpSync } from 'node:fs'; cpSync('packages/cli/src', 'packages/cli/dist', { recursive: true });`,
  );
  // Says what it was called with, and what was built. With --stay it serves until SIGTERM.
  await write(
    'packages/cli/bin/qim.js',
    `import { readFileSync, writeFileSync } from 'node:fs';
     console.log([...process.argv.slice(2), readFileSync(new URL('../dist/main.ts', import.meta.url), 'utf8')].join(' '));
     if (process.argv.includes('--stay')) {
       setInterval(() => {}, 1000);
       process.on('SIGTERM', () => { writeFileSync('stopped', ''); process.exit(0); });
     } else process.exit(7);`,
  );
});
afterEach(() => rm(root, { recursive: true }));

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

const put = (path: string, value: object): Promise<void> => write(path, JSON.stringify(value, undefined, 2));

interface Run {
  readonly code: number;
  readonly out: string;
  readonly did: readonly string[];
}

function start(args: readonly string[] = [], node: readonly string[] = []): Promise<Run> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [...node, 'scripts/start.mjs', ...args], { cwd: root }, (_, stdout, stderr) => {
      const did = stderr.split('\n').filter((line) => line.startsWith('qim: '));
      resolve({ code: child.exitCode ?? -1, out: stdout.trim(), did: did.map((line) => line.slice('qim: '.length)) });
    });
  });
}

const INSTALLING = expect.stringContaining('installing');

test('a fresh clone is installed and built, and then run with the flags and the exit code handed on', async () => {
  expect(await start(['--port', '7800'])).toEqual({ code: 7, out: 'serve --dev --port 7800 one', did: [INSTALLING, 'building'] });
});

test('a second start does neither', async () => {
  await start();
  expect(await start()).toEqual({ code: 7, out: 'serve --dev one', did: [] });
});

test('a changed source is built again, and a touched one is not', async () => {
  await start();
  await write('packages/cli/src/main.ts', 'two');
  expect(await start()).toMatchObject({ out: 'serve --dev two', did: ['building'] });
  const later = new Date(Date.now() + 60_000);
  await utimes(join(root, 'packages/cli/src/main.ts'), later, later);
  expect((await start()).did).toEqual([]);
});

test('a removed build is made again', async () => {
  await start();
  await rm(join(root, 'packages/cli/dist'), { recursive: true });
  expect(await start()).toMatchObject({ code: 7, did: ['building'] });
});

test('a test that changed needs no build', async () => {
  await start();
  await write('packages/cli/tests/new.test.ts', 'x');
  expect((await start()).did).toEqual([]);
});

test('a lock file that changed is installed again', async () => {
  await start();
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as object;
  await put('package-lock.json', { ...lock, version: '1.0.1' });
  const later = new Date(Date.now() + 60_000);
  await utimes(join(root, 'package-lock.json'), later, later);
  expect((await start()).did).toEqual([INSTALLING, 'building']);
  expect((await start()).did).toEqual([]);
});

test('a build that fails ends it, with what failed', async () => {
  await write('scripts/build.mjs', 'process.exit(3);');
  expect(await start()).toEqual({ code: 1, out: '', did: [INSTALLING, 'building', 'npm run build failed'] });
});

test('a signal to npm alone stops the server too', async () => {
  await start();
  const npm = spawn('npm', ['start', '--', '--stay'], { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void npm.kill('SIGKILL'));
  await vi.waitFor(async () => expect(String(await once(npm.stdout, 'data'))).toContain('serve --dev --stay'), { timeout: 60_000 });
  npm.kill('SIGTERM');
  await vi.waitFor(() => expect(existsSync(join(root, 'stopped'))).toBe(true), { timeout: 60_000 });
});

test('an older Node is told what is needed, and nothing is done', async () => {
  const older = `data:text/javascript,Object.defineProperty(process, 'versions', { value: { node: '20.18.3' } })`;
  const { code, did } = await start([], ['--import', older]);
  expect([code, did]).toEqual([1, ['Node 20.19 or newer is needed; this is 20.18.3']]);
});
