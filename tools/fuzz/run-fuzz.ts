/** Inputs without end, by a seed that makes them again: until there were enough, or the time is over. */
import fc from 'fast-check';
import type { Target } from './target.js';

export interface FuzzOptions {
  readonly targets: readonly Target[];
  readonly seed: number;
  /** Of all targets together. */
  readonly inputs: number;
  /** Milliseconds; what was not tried by then is not. */
  readonly withinMs?: number;
  readonly monotonicNow: () => number;
  /** Told after each piece. */
  readonly progress?: (tried: number) => void;
}

export interface Tried {
  readonly name: string;
  readonly inputs: number;
  readonly milliseconds: number;
  /** How it failed, with what makes it fail again, in the least form that does; undefined: it held. */
  readonly failure: string | undefined;
}

/** Inputs between two looks at the time. */
const PIECE = 100;

/** A target that fails gets no more inputs. */
export async function runFuzz({ targets, seed, inputs, withinMs = Infinity, monotonicNow, progress = () => {} }: FuzzOptions) {
  const started = monotonicNow();
  const weights = targets.reduce((sum, { weight }) => sum + weight, 0);
  const tried: Tried[] = [];
  let done = 0;
  let shared = 0;
  const count = (more: number): void => {
    done += more;
    progress(done);
  };
  for (const each of targets) {
    shared += each.weight;
    const share = Math.ceil((inputs * each.weight) / weights);
    const endsAt = started + (withinMs * shared) / weights;
    const result = await tryTarget(each, { seed, share, endsAt, monotonicNow, count });
    tried.push(result);
  }
  return tried;
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

interface Share {
  readonly seed: number;
  readonly share: number;
  readonly endsAt: number;
  readonly monotonicNow: () => number;
  readonly count: (more: number) => void;
}

async function tryTarget({ name, input, holds }: Target, { seed, share, endsAt, monotonicNow, count }: Share): Promise<Tried> {
  const started = monotonicNow();
  const property = fc.asyncProperty(input, async (value) => {
    await holds(value);
  });
  let inputs = 0;
  let failure: string | undefined;
  for (let piece = 0; inputs < share && failure === undefined; piece += 1) {
    // Each target gets something, however slow the machine is.
    if (piece > 0 && monotonicNow() > endsAt) break;
    const numRuns = Math.min(PIECE, share - inputs);
    const details = await fc.check(property, { seed: seed + piece, numRuns });
    inputs += details.numRuns;
    count(details.numRuns);
    if (details.failed) failure = `${fc.defaultReportMessage(details) ?? ''}\n${stackOf(details.errorInstance)}`;
  }
  return { name, inputs, milliseconds: monotonicNow() - started, failure };
}
