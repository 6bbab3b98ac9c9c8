/** Random work against one store, sequence after sequence, until the time is up or something diverges. */
import { type ModelReport, type ModelRunOptions, report, runModel, type Subject } from '../../packages/store/src/testing/model/index.js';

const MINUTE_MS = 60_000;
const SEQUENCES_PER_STORE = 100;
const COMMANDS = 60;
/** Seeds of fast-check are signed 32-bit integers: half as many as those of our own random. */
export const SEEDS = 2 ** 31;
/** For what was found to be shrunk in. */
const SHRINKING_MS = 2 * MINUTE_MS;

export interface SoakOptions {
  readonly minutes: number;
  /** Of the first stores' sequences; each store after it has the next one. */
  readonly seed: number;
  /** Milliseconds that never go back. */
  readonly monotonicNow: () => number;
  readonly print: (line: string) => void;
  /** Then with a fresh store: one that only grows would be measured, not checked. Default 100. */
  readonly sequences?: number;
}

/** False: there was a divergence; it was printed, shrunk. At least one store is tried, however short the time. */
export async function soak(name: string, open: () => Subject | Promise<Subject>, options: SoakOptions): Promise<boolean> {
  const { minutes, seed: firstSeed, monotonicNow, print, sequences: perStore = SEQUENCES_PER_STORE } = options;
  print(`${name}: seed ${firstSeed}, for ${minutes} minutes`);
  const end = monotonicNow() + minutes * MINUTE_MS;
  let [seed, sequences, operations, comparisons] = [firstSeed, 0, 0, 0];
  do {
    const ran = await runOnce(open, { seed, sequences: perStore, commands: COMMANDS, timeLimitMs: SHRINKING_MS });
    if (ran.divergence !== undefined) {
      print(report(ran, name));
      print(`again: npm run soak -- --store ${name} --seed ${seed} --minutes 1`);
      return false;
    }
    sequences += ran.sequences;
    operations += ran.operations;
    comparisons += ran.comparisons;
    seed = (seed + 1) % SEEDS;
  } while (monotonicNow() < end);
  print(report({ seed: firstSeed, sequences, operations, comparisons, divergence: undefined }, name));
  return true;
}

async function runOnce(open: () => Subject | Promise<Subject>, options: ModelRunOptions): Promise<ModelReport> {
  const subject = await open();
  try {
    return await runModel(subject, options);
  } finally {
    await subject.close();
  }
}
