/** The schema's checks notice what they are for. */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { breakingChanges, differences, lintSchema } from '../schema/check-schema.js';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const SCHEMA = 'packages/proto/schema/qim/v1';
let root: string;

/** A tree with buf's configuration, the baseline, and the schema as `change` makes it. */
async function plant(change: (types: string) => string): Promise<void> {
  for (const path of ['buf.yaml', 'tools/schema/baseline.txtpb', SCHEMA]) {
    await cp(join(REPOSITORY, path), join(root, path), { recursive: true });
  }
  const file = join(root, SCHEMA, 'types.proto');
  await writeFile(file, change(await readFile(file, 'utf8')));
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'qim-schema-test-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

describe('the schema checks', () => {
  test('an unchanged schema breaks nothing', async () => {
    await plant((types) => types);
    expect(await breakingChanges(root)).toEqual([]);
  });

  test('a renumbered field is a breaking change', async () => {
    await plant((types) => types.replace(/optional bool unread_exact = (\d+)/, 'optional bool unread_exact = 1$1'));
    expect((await breakingChanges(root)).join('\n')).toContain('unread_exact');
  });

  test('a field against the style is named', async () => {
    await plant((types) => types.replaceAll('unread_exact', 'unreadExact'));
    expect((await lintSchema(root)).join('\n')).toContain('unreadExact');
  });

  test('generated code that differs, is missing or is too much is named, each', async () => {
    for (const [folder, files] of [
      ['wanted', { a: '1', b: '2' }],
      ['actual', { a: '1', b: '3', c: '4' }],
    ] as const) {
      await mkdir(join(root, folder), { recursive: true });
      for (const [name, text] of Object.entries(files)) await writeFile(join(root, folder, name), text);
    }
    const found = await differences(join(root, 'wanted'), join(root, 'actual'));
    expect(found.map((line) => line.replace(/^.*actual\/(.) .*$/, '$1'))).toEqual(['b', 'c']);
  });
});
