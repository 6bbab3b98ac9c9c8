/**
 * `npm run soak -- --minutes N [--store embedded|redis] [--seed S]`: random work against a store and the reference model,
 * for so long. It prints the seed, the operations and the divergences; a divergence is shrunk, printed as the commands
 * that show it, and ends the run with code 1.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { embeddedSubject } from '../../packages/store/src/testing/model/embedded-subject.js';
import { type ModelReport, report, runModel, type Subject } from '../../packages/store/src/testing/model/index.js';
import { redisSubject } from '../../packages/store/src/testing/model/redis-subject.js';

const STORES: Readonly<Record<string, () => Promise<Subject>>> = { embedded: embeddedSubject, redis: redisSubject };
const MINUTE_MS = 60_000;
/** Then with a fresh store: one that only grows would be measured, not checked. */
const SEQUENCES_PER_STORE = 100;
const COMMANDS = 60;
/** Seeds of fast-check are 32-bit integers. */
const SEEDS = 2 ** 31;
/** For shrinking what was found. */
const SHRINKING_MS = 2 * MINUTE_MS;

interface Arguments {
  readonly minutes: number;
  readonly stores: readonly string[];
  readonly seed: number;
}

function readArguments(args: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: [...args],
    options: { minutes: { type: 'string', default: '1' }, store: { type: 'string' }, seed: { type: 'string' } },
  });
  const [minutes, seed] = [Number(values.minutes), values.seed === undefined ? randomInt(SEEDS) : Number(values.seed)];
  if (!(minutes > 0)) throw new Error('--minutes is a number above 0');
  if (!Number.isInteger(seed)) throw new Error('--seed is an integer, as an earlier run printed it');
  if (values.store !== undefined && STORES[values.store] === undefined) throw new Error('--store is embedded or redis');
  return { minutes, seed, stores: values.store === undefined ? Object.keys(STORES) : [values.store] };
}

async function runOnce(open: () => Promise<Subject>, seed: number): Promise<ModelReport> {
  const subject = await open();
  try {
    return await runModel(subject, { seed, sequences: SEQUENCES_PER_STORE, commands: COMMANDS, timeLimitMs: SHRINKING_MS });
  } finally {
    await subject.close();
  }
}

/** True: no divergence. */
async function soak(name: string, minutes: number, firstSeed: number): Promise<boolean> {
  const open = STORES[name];
  if (open === undefined) throw new Error(`no store is called ${name}`);
  console.log(`${name}: seed ${firstSeed}, for ${minutes} minutes`);
  const end = performance.now() + minutes * MINUTE_MS;
  let [seed, sequences, operations, comparisons] = [firstSeed, 0, 0, 0];
  while (performance.now() < end) {
    const ran = await runOnce(open, seed);
    if (ran.divergence !== undefined) {
      console.log(report(ran, name));
      console.log(`again: npm run soak -- --store ${name} --seed ${seed} --minutes 1`);
      return false;
    }
    sequences += ran.sequences;
    operations += ran.operations;
    comparisons += ran.comparisons;
    seed = (seed + 1) % SEEDS;
  }
  console.log(report({ seed: firstSeed, sequences, operations, comparisons, divergence: undefined }, name));
  return true;
}

try {
  const { minutes, stores, seed } = readArguments(process.argv.slice(2));
  for (const name of stores) if (!(await soak(name, minutes, seed))) process.exitCode = 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
