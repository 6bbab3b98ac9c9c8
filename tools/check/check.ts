/**
 * `npm run check [-- WORD…]`: everything that can be judged without running qim. All steps run, also after a failure;
 * with words, only the steps whose name holds one of them. `--json FILE` also writes the counts for `npm test`.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { STEPS, type Step } from './steps.js';
import { trackedFiles } from './tracked.js';

async function problemsOf(step: Step, tracked: readonly string[]): Promise<readonly string[]> {
  try {
    return await step.run(tracked);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

const { values, positionals } = parseArgs({ options: { json: { type: 'string' } }, allowPositionals: true });
const chosen = STEPS.filter(({ name }) => positionals.length === 0 || positionals.some((word) => name.includes(word)));
const tracked = await trackedFiles();
let failed = 0;
for (const step of chosen) {
  const before = performance.now();
  const problems = await problemsOf(step, tracked);
  const seconds = ((performance.now() - before) / 1000).toFixed(1);
  console.log(`${problems.length === 0 ? 'ok    ' : 'FAILED'}  ${step.name}  ${seconds} s`);
  for (const problem of problems) console.log(problem.replace(/^/gm, '        '));
  if (problems.length > 0) failed += 1;
}
const passed = chosen.length - failed;
console.log(`check: ${passed} passed, ${failed} failed`);
if (values.json !== undefined) await writeFile(values.json, JSON.stringify({ passed, failed }));
if (failed > 0 || passed === 0) process.exitCode = 1;
