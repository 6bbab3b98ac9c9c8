/** The measurement itself, over few messages, so that it cannot rot. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COMMAND = ['--conditions=@qim/source', '--import', 'tsx', 'tools/fsck-million.ts', '--messages', '500'];

test.each([
  ['embedded', 21],
  ['redis', 23],
])('on %s finds nothing, then each of %i kinds of damage, mends them, and finds nothing', async (store, kinds) => {
  const { stdout } = await promisify(execFile)(process.execPath, [...COMMAND, '--store', store], { cwd: ROOT });
  expect(stdout).toContain('qim fsck: exit code 0; 0 findings');
  expect(stdout).toContain(`${kinds} kinds of damage planted, ${kinds} of them found: exit code 1`);
  expect(stdout).toMatch(/qim fsck --repair: exit code 0; \d+ findings, \d+ mended, 0 left/);
  expect(stdout).toContain('qim fsck after it: exit code 0; 0 findings');
  expect(stdout).toContain(`lists that answer again: ${kinds} of ${kinds}`);
});
