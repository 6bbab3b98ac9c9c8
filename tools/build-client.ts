/**
 * `npm run build -w @qim/client`, and before each `npm pack` of it. `--accept` (`npm run client:api`) also writes the API
 * reports, and without it they are not looked at: that is the check's.
 */
import { fileURLToPath } from 'node:url';
import { command } from './check/command.js';
import { buildPackage } from './client-package/build-package.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
process.chdir(ROOT);
const compiled = await command(process.execPath, ['node_modules/@typescript/native/bin/tsc', '-b', 'packages/client']);
if (compiled.code !== 0) throw new Error(compiled.output);
const { problems, sizes } = await buildPackage(ROOT, process.argv.includes('--accept'));
for (const [entry, bytes] of Object.entries(sizes)) console.log(`${entry}: ${bytes} bytes minified and gzipped`);
for (const problem of problems) console.log(problem);
if (problems.length > 0) process.exitCode = 1;
