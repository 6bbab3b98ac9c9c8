/** The suite itself, at its smallest: that every area runs, checks its answers, and yields every ratio. No figure is judged. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { GOALS } from '../src/goals.js';
import type { Result } from '../src/result.js';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

test('a quick run measures every area, and gives every ratio and every curve', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'qim-bench-test-'));
  try {
    const json = join(folder, 'result.json');
    const args = ['--conditions=@qim/source', '--import', 'tsx', MAIN, '--quick', '--json', json];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const { ratios, curves, parts, missing, quick } = JSON.parse(await readFile(json, 'utf8')) as Result;
    const withoutPostgres = missing.some((what) => what.startsWith('PostgreSQL is not here'));
    for (const { name } of GOALS) {
      if (!(withoutPostgres && name.includes('postgres'))) expect(ratios[name], name).toBeGreaterThan(0);
      else expect(ratios).not.toHaveProperty(name);
    }
    expect(quick).toBe(true);
    expect(curves.map(({ name }) => name)).toEqual(['history', 'body', 'list', 'members']);
    expect(parts.map(({ area }) => area)).toEqual(['page', 'page', 'commit', 'commit', 'e2e']);
    expect(stdout).toContain('page100x20_vs_floor');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 300_000);

test('an area that does not exist is refused, and the areas are named', async () => {
  const run = promisify(execFile)(process.execPath, ['--conditions=@qim/source', '--import', 'tsx', MAIN, 'speed']);
  await expect(run).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('page, commit, e2e') });
});
