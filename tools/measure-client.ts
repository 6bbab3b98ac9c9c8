/**
 * `npm run measure-client`: the figures of packages/client/README.md, measured here and now. Sizes are the same anywhere; times
 * are those of this machine, and mean something only when nothing else runs on it.
 */
import { fileURLToPath } from 'node:url';
import { CLIENT, ENTRIES, gzippedBytes } from './client-package/bundle.js';
import { measureFrames, measureWarmList } from './client-package/figures.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
process.chdir(ROOT);
for (const [entry, source] of Object.entries(ENTRIES)) {
  console.log(`bundle, ${entry}, minified and gzipped: ${await gzippedBytes(ROOT, `${CLIENT}/src/${source}`)} bytes`);
}
console.log(
  `bundle without the cache: ${await gzippedBytes(ROOT, `${CLIENT}/src/index.ts`, /\/storage\/(cache|indexeddb-storage|tabs)\.ts$/)} bytes`,
);
const { entries, storedMs, medianMs, slowestMs, runs } = await measureWarmList();
console.log(
  `list from a warm cache, ${entries} conversations, Chromium: median ${medianMs} ms, slowest ${slowestMs} ms, of ${runs} page loads (written in ${storedMs} ms)`,
);
for (const line of await measureFrames()) console.log(line);
