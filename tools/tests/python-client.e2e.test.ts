/** The client in examples/python, and the commands of its README, run against a real server. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DevServer, startDevServer } from '../serve/dev-server.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CLIENT_LINES_MAX = 270;

let server: DevServer;
beforeAll(async () => {
  server = await startDevServer();
});
afterAll(() => server.stop());

async function python(...args: string[]): Promise<string[]> {
  const env = { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1' };
  const { stdout } = await promisify(execFile)('python3', args, { cwd: ROOT, env, timeout: 100_000 });
  return stdout.trimEnd().split('\n');
}

test('a client in the standard library of Python lists, sends, receives and catches up', async () => {
  expect(await python('examples/python/scene.py', server.url)).toEqual([
    'welcome',
    'a send is safe to repeat',
    'an event came',
    'the list counts, and a read mark lowers it',
    'what was missed came, page by page, and what was edited',
    'a long message came whole',
    'a stranger is told that there is nothing',
  ]);
});

test('the commands of its README do what they say', async () => {
  const readme = await readFile(`${ROOT}examples/python/README.md`, 'utf8');
  const [send, list] = readme.split('\n').filter((line) => line.startsWith('python3 '));
  const words = (line = '') =>
    [...line.matchAll(/"([^"]*)"|(\S+)/g)]
      .slice(1)
      .map(([, quoted, plain]) => (quoted ?? plain ?? '').replace('http://127.0.0.1:7700', server.url));
  const [sent] = await python(...words(send).map((word) => (word === 'bob' ? 'carol' : word)));
  expect(sent).toMatch(/^d_\S+ 1$/);
  expect(await python(...words(list).map((word) => (word === 'bob' ? 'carol' : word)))).toEqual([
    expect.stringMatching(/^d_\S+ alice 1 unread$/),
  ]);
});

test('it is a client that one can read at a sitting, and imports nothing but the standard library', async () => {
  const text = await readFile(`${ROOT}examples/python/qim_client.py`, 'utf8');
  expect(text.split('\n').length).toBeLessThan(CLIENT_LINES_MAX);
  const [modules] = await python('-c', 'import sys; print(" ".join(sorted(sys.stdlib_module_names)))');
  const known = new Set(modules?.split(' '));
  const imported = [...text.matchAll(/^(?:import|from) (\w+)/gm)].map(([, name]) => name);
  expect(imported.filter((name) => name === undefined || !known.has(name))).toEqual([]);
});
