/**
 * `npm run build -w @qim/client`, and before each `npm pack` of it. With `--accept` (`npm run client:api`) also writes the API
 * reports and says how large it is.
 */
import { fileURLToPath } from 'node:url';
import { command } from './check/command.js';
import { buildPackage, checkPackage } from './client-package/build-package.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
process.chdir(ROOT);
const compiled = await command(process.execPath, ['node_modules/@typescript/native/bin/tsc', '-b', 'packages/client']);
if (compiled.code !== 0) throw new Error(compiled.output);
const problems = process.argv.includes('--accept') ? await accepted() : await buildPackage(ROOT, 'none');
for (const problem of problems) console.log(problem);
if (problems.length > 0) process.exitCode = 1;

async function accepted(): Promise<readonly string[]> {
  const report = await checkPackage(ROOT, 'accept');
  for (const [entry, bytes] of Object.entries(report.sizes)) console.log(`${entry}: ${bytes} bytes minified and gzipped`);
  return report.problems;
}
