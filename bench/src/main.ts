/**
 * `npm run bench [-- page|commit|e2e|sockets|memory|growth …] [--quick] [--json FILE] [--write-docs [--from FILE]]`
 *
 * Starts its own stores, measures, and prints tables. `--write-docs` writes the tables of docs/benchmarks.md and the curves
 * beside it, from this run or, with `--from` (once or more), from the JSON of earlier ones.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { AREAS } from './areas.js';
import { AREA_NAMES, type AreaName } from './goals.js';
import { describeMachine } from './machine.js';
import { withTables } from './report/docs.js';
import { curveSvg } from './report/svg.js';
import { terminalReport } from './report/terminal.js';
import { type Result, Results } from './result.js';
import { FULL, QUICK } from './scale.js';

const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url));

const { values, positionals } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    json: { type: 'string' },
    'write-docs': { type: 'boolean' },
    from: { type: 'string', multiple: true },
  },
  allowPositionals: true,
});
const unknown = positionals.filter((word) => !AREA_NAMES.some((name) => name === word));
if (unknown.length > 0) {
  console.error(`no such area: ${unknown.join(', ')}; there are ${AREA_NAMES.join(', ')}`);
  process.exit(2);
}
const chosen = AREA_NAMES.filter((name) => positionals.length === 0 || positionals.includes(name));
const result = values.from === undefined ? await run(chosen) : merged(await Promise.all(values.from.map(readResult)));
console.log(terminalReport(result));
if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(result, undefined, 1)}\n`);
if (values['write-docs'] === true) await writeDocs(result);

async function run(areas: readonly AreaName[]): Promise<Result> {
  const machine = await describeMachine();
  const startedAt = new Date();
  const results = new Results();
  for (const area of areas) {
    const begin = performance.now();
    await AREAS[area](results, values.quick === true ? QUICK : FULL);
    console.log(`${area}: measured in ${Math.round((performance.now() - begin) / 1000)} s`);
  }
  const { ratios, rows, curves, parts, missing } = results;
  return {
    form: 1,
    quick: values.quick === true,
    startedAt: startedAt.toISOString(),
    seconds: (Date.now() - startedAt.getTime()) / 1000,
    machine,
    ratios,
    rows,
    curves,
    parts,
    missing: [...new Set(missing)],
  };
}

async function readResult(path: string): Promise<Result> {
  return JSON.parse(await readFile(path, 'utf8')) as Result;
}

/** Runs of single areas as one; the first says when and on what machine. */
function merged(all: readonly Result[]): Result {
  const [first] = all;
  if (first === undefined) throw new Error('--from names at least one file');
  return {
    ...first,
    seconds: all.reduce((sum, { seconds }) => sum + seconds, 0),
    quick: all.some(({ quick }) => quick),
    ratios: Object.assign({}, ...all.map(({ ratios }) => ratios)) as Result['ratios'],
    rows: all.flatMap(({ rows }) => rows),
    curves: all.flatMap(({ curves }) => curves),
    parts: all.flatMap(({ parts }) => parts),
    missing: [...new Set(all.flatMap(({ missing }) => missing))],
  };
}

async function writeDocs(written: Result): Promise<void> {
  const page = `${DOCS}benchmarks.md`;
  await writeFile(page, withTables(await readFile(page, 'utf8'), written));
  await mkdir(`${DOCS}benchmarks`, { recursive: true });
  for (const curve of written.curves) await writeFile(`${DOCS}benchmarks/${curve.name}.svg`, curveSvg(curve));
}
