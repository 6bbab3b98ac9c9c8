/**
 * `npm run check [-- WORD…]`: everything that can be judged without running qim. With words, only the steps whose name
 * holds one of them. `--json FILE` also writes the counts, for `npm test`.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { chosenSteps, runSteps } from './run-steps.js';
import { STEPS } from './steps.js';
import { trackedFiles } from './tracked.js';

const { values, positionals } = parseArgs({ options: { json: { type: 'string' } }, allowPositionals: true });
const counts = await runSteps(chosenSteps(STEPS, positionals), await trackedFiles(), console.log);
console.log(`check: ${counts.passed} passed, ${counts.failed} failed`);
if (values.json !== undefined) await writeFile(values.json, JSON.stringify(counts));
if (counts.failed > 0 || counts.passed === 0) process.exitCode = 1;
