/**
 * `npm run schema:baseline [-- --allow-breaking]`: agrees on the schema as it is.
 * A breaking change is allowed only in what is marked `unstable until built`; say so in CHANGELOG.md.
 */
import { existsSync } from 'node:fs';
import { BASELINE, breakingChanges, lintSchema, writeImage } from './check-schema.js';

const allowed = process.argv.includes('--allow-breaking');
const breaking = existsSync(BASELINE) ? await breakingChanges() : [];
const problems = [...(await lintSchema()), ...(allowed ? [] : breaking)];
if (problems.length > 0) {
  console.error(problems.join('\n'));
  console.error('the baseline stays as it was');
  process.exitCode = 1;
} else {
  for (const change of breaking) console.log(`breaking, and allowed by --allow-breaking: ${change}`);
  await writeImage(BASELINE);
  console.log(`${BASELINE} is current`);
}
