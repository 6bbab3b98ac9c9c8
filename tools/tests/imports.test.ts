/** A small tree with the real package.json files and one violation of every kind: the check must see each of them. */
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkImports } from '../imports/check-imports.js';
import table from '../imports/table.json' with { type: 'json' };

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const SUBPATHS = [...Object.keys(table.onlyFrom), 'packages/proto/src/schema.ts'];

/** Path, text, and the rule that must name it. */
const PLANTED: readonly (readonly [path: string, text: string, rule: string])[] = [
  ['packages/proto/src/up.ts', "import '@qim/store';", 'direction-proto'],
  ['packages/store/src/up.ts', "import type { A } from '@qim/writer'; export type B = A;", 'direction-store'],
  ['packages/writer/src/sibling.ts', "import '@qim/session';", 'direction-writer'],
  ['packages/session/src/sibling.ts', "import '@qim/push';", 'direction-session'],
  ['packages/push/src/sibling.ts', "export * from '@qim/writer';", 'direction-push'],
  ['packages/gateway/src/deep.ts', "import '@qim/store';", 'direction-gateway'],
  ['packages/server/src/up.ts', "export const client = import('@qim/client');", 'direction-server'],
  ['packages/client/src/inside.ts', "import '@qim/session';", 'direction-client'],
  ['packages/web/src/page.tsx', "import '@qim/store';", 'direction-web'],
  ['packages/cli/src/inside.ts', "import '@qim/gateway';", 'direction-cli'],
  ['acceptance/src/inside.ts', "import '@qim/server';", 'direction-acceptance'],
  ['packages/push/src/undeclared.ts', "import '@qim/proto';", 'undeclared-push'],
  ['packages/session/src/redis.ts', "import '@qim/store/redis';", 'only-from-redis'],
  ['packages/server/src/other.ts', "import '@qim/store/embedded';", 'only-from-embedded'],
  ['packages/server/src/memory.ts', "import '@qim/store/memory';", 'only-from-memory'],
  ['packages/cli/src/testing.ts', "import '@qim/store/testing';", 'only-from-testing'],
  ['packages/session/src/a.ts', "import './b.js'; export const a = 1;", 'no-circle'],
  ['packages/session/src/path.ts', "import '../../store/src/index.js';", 'past-exports'],
  ['packages/session/tests/path.test.ts', "import '../../store/src/index.js';", 'past-exports'],
  ['packages/session/src/own-test.ts', "import '../tests/path.test.js';", 'src-stays-inside'],
  ['packages/session/src/hidden.ts', "import '@qim/store/src/redis/keys.js';", 'unresolvable'],
  ['packages/session/src/undeclared.ts', "import 'fastify';", 'undeclared-npm'],
  ['packages/session/src/driver.ts', "import 'redis';", 'driver-outside-its-backend'],
  ['packages/client/src/node.ts', "import 'node:fs';", 'no-node-in-browser-code'],
];

/** Right imports, so that a rule that forbids everything does not pass for one that sees. */
const ALLOWED: readonly (readonly [path: string, text: string])[] = [
  ['packages/server/src/open-store.ts', "import '@qim/store/redis'; import '@qim/store/embedded'; import '@qim/store';"],
  ['packages/session/src/right.ts', "import type { A } from '@qim/proto'; import '@qim/store'; import './index.js'; export type B = A;"],
  ['packages/session/tests/right.test.ts', "import '@qim/store/memory'; import '@qim/store/testing'; import '../src/right.js';"],
  ['packages/store/src/redis/driver.ts', "import 'redis';"],
];

let root: string;
let problems: string[];
const written: string[] = [];

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
  if (/\.tsx?$/.test(path)) written.push(path);
}

async function copyManifest(room: string): Promise<void> {
  const manifest = JSON.parse(await readFile(join(REPOSITORY, room, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
  if (room === 'packages/push') delete manifest.dependencies['@qim/proto'];
  await write(`${room}/package.json`, JSON.stringify(manifest));
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'qim-imports-'));
  await cp(join(REPOSITORY, 'package.json'), join(root, 'package.json'));
  await mkdir(join(root, 'node_modules/@qim'), { recursive: true });
  for (const name of ['fastify', 'redis']) await write(`node_modules/${name}/index.js`, '');
  for (const room of Object.keys(table.mayImport)) {
    await copyManifest(room);
    await write(`${room}/src/index.ts`, 'export type A = 1;');
    await symlink(join(root, room), join(root, 'node_modules/@qim', room.replace('packages/', '')));
  }
  for (const path of SUBPATHS) await write(path, 'export {};');
  await write('packages/session/src/b.ts', "import './a.js'; export const b = 1;");
  for (const [path, text] of [...PLANTED, ...ALLOWED]) await write(path, text);
  problems = await checkImports(root, written);
});

afterAll(() => rm(root, { recursive: true, force: true }));

describe('the import check', () => {
  for (const [path, text, rule] of PLANTED) {
    test(`${rule} sees ${path}: ${text}`, () => {
      expect(problems).toContainEqual(expect.stringMatching(new RegExp(`^${rule}: ${path.replaceAll('.', '\\.')} -> `)));
    });
  }

  test.each(ALLOWED)('%s may import what it imports', (path) => {
    expect(problems.filter((line) => line.includes(`: ${path} -> `))).toEqual([]);
  });

  test('every violation says what to do instead', () => {
    for (const line of problems) expect(line).toMatch(/; .{20}/);
  });

  test('a source file that was not looked at is a problem', async () => {
    const unseen = 'packages/push/src/not-there.ts';
    expect(await checkImports(root, [...written, unseen])).toContain(`not seen by dependency-cruiser: ${unseen}`);
  });

  test('no source file at all is a problem', async () => {
    expect(await checkImports(root, ['README.md'])).not.toEqual([]);
  });
});
