/**
 * Whether what is built is what the sources say. Plain Node: it runs in a fresh clone, before anything is installed.
 *
 * `npm run build` ends by writing the hash of all that the build reads; `npm start` compares. A hash and not times,
 * which a checkout sets as it likes. Run as a script it writes the stamp.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** In node_modules, so that it goes with what was installed and is in no repository. */
const STAMP_FOLDER = join(ROOT, 'node_modules', '.cache', 'qim');
const NOT_READ = new Set(['dist', 'node_modules', 'tests', 'e2e', 'coverage', 'test-results']);

/** @param {string} name @returns {string | undefined} undefined: there is none */
export function readStamp(name) {
  const file = join(STAMP_FOLDER, name);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** @param {string} name @param {string} value */
export function writeStamp(name, value) {
  mkdirSync(STAMP_FOLDER, { recursive: true });
  writeFileSync(join(STAMP_FOLDER, name), value);
}

/** Of the lock file. @returns {string} */
export function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex');
}

/** Of every file that the build reads, names included. @returns {string} */
export function sourceHash() {
  const hash = createHash('sha256').update(lockHash());
  const top = readdirSync(ROOT).filter((name) => /^(tsconfig.*|package)\.json$/.test(name));
  const files = [...top, ...filesUnder('packages'), ...filesUnder('acceptance')].sort();
  for (const file of files) hash.update(`\0${file}\0`).update(readFileSync(join(ROOT, file)));
  return hash.digest('hex');
}

/** @param {string} folder @returns {string[]} */
function filesUnder(folder) {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return NOT_READ.has(entry.name) ? [] : filesUnder(path);
    return entry.isFile() ? [path] : [];
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeStamp('built', sourceHash());
