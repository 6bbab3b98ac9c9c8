/** The files that git knows or would take: what the checks look at. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { command } from './command.js';

/**
 * Repository-relative paths with forward slashes, sorted; files not yet added count, ignored and deleted ones do not.
 * @throws when git cannot answer: a check that sees no file must not pass.
 */
export async function trackedFiles(root = process.cwd()): Promise<string[]> {
  const listed = await command('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], root);
  if (listed.code !== 0) throw new Error(`git ls-files failed: ${listed.output}`);
  const paths = [...new Set(listed.stdout.split('\0'))].filter((path) => path !== '' && existsSync(join(root, path)));
  if (paths.length === 0) throw new Error('git ls-files names no file');
  return paths.sort();
}
