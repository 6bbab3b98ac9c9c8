/**
 * What the tests need beside Node and npm, and how a Debian machine gets it. Nothing here imports a package: it runs in a
 * fresh clone. `planInstall` decides and does nothing else, so that a test can ask it.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Debian packages, the program that they bring, and who needs it. Without a font a page has no text to look at. */
export const NEEDED = [
  { packages: ['redis-server'], program: 'redis-server', why: 'the tests of the Redis store and the acceptance start it' },
  { packages: ['chromium', 'fonts-liberation'], program: 'chromium', why: 'the tests of the chat page drive it' },
  // It also brings git to a bare machine: the checks look at tracked files.
  { packages: ['git'], program: 'git', why: 'the checks ask it for the files of the repository' },
  { packages: ['curl'], program: 'curl', why: 'the transcript of the README uses it' },
  { packages: ['python3'], program: 'python3', why: 'the client in examples/python is run by a test' },
];

/** @param {string} program @param {string} path the PATH to look at @returns {boolean} */
export function isOnPath(program, path) {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/**
 * @typedef {{ needed: typeof NEEDED, has: (program: string) => boolean, isRoot: boolean, allowed: boolean }} Machine
 * @typedef {{ kind: 'nothing' } | { kind: 'install', missing: typeof NEEDED, commands: string[][] }
 *   | { kind: 'refuse', missing: typeof NEEDED, reason: string, command: string }} Plan
 */

/**
 * Nothing missing: nothing. Debian, root and allowed: the commands. Otherwise a refusal that names the command: what
 * cannot be tested is never passed over.
 * @param {Machine} machine @returns {Plan}
 */
export function planInstall({ needed, has, isRoot, allowed }) {
  const missing = needed.filter(({ program }) => !has(program));
  if (missing.length === 0) return { kind: 'nothing' };
  const packages = missing.flatMap((one) => one.packages);
  const command = `apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')}`;
  /** @param {string} reason @returns {Plan} */
  const refuse = (reason) => ({ kind: 'refuse', missing, reason, command });
  if (!allowed) return refuse('QIM_TEST_INSTALL=0 forbids installing');
  if (!has('apt-get')) return refuse('there is no apt-get here; install the same programs in this system’s own way');
  if (!isRoot) return refuse('installing needs root');
  return {
    kind: 'install',
    missing,
    commands: [
      ['apt-get', 'update'],
      ['apt-get', 'install', '-y', '--no-install-recommends', ...packages],
    ],
  };
}
