/** Many random command sequences against one store; the first that diverges is shrunk. */
import fc from 'fast-check';
import { commandSequences } from './arbitrary.js';
import { type Command, describe } from './command.js';
import { look } from './look.js';
import { step } from './steps.js';
import type { Subject } from './subject.js';
import { World } from './world.js';

export interface ModelRunOptions {
  /** The same seed makes the same sequences. */
  readonly seed: number;
  readonly sequences: number;
  /** Commands in the longest sequence; default 40. */
  readonly commands?: number;
  /** After so many milliseconds the run ends, also in the middle of shrinking; absent: when it is done. */
  readonly timeLimitMs?: number;
}

export interface ModelReport {
  readonly seed: number;
  readonly sequences: number;
  /** Commands that were done to both. */
  readonly operations: number;
  /** Answers that were compared. */
  readonly comparisons: number;
  /** Undefined: there was none. */
  readonly divergence: { readonly what: string; readonly commands: readonly string[] } | undefined;
}

const COMMANDS_DEFAULT = 40;
/** Tenants are what keeps the runs of one store apart. */
let tenants = 1;

/** The subject stays open; its store is left as the sequences left it. */
export async function runModel(subject: Subject, options: ModelRunOptions): Promise<ModelReport> {
  const { seed, sequences, commands = COMMANDS_DEFAULT, timeLimitMs } = options;
  let [ran, operations, comparisons] = [0, 0, 0];
  const property = fc.asyncProperty(commandSequences(commands), async (sequence) => {
    tenants += 1;
    ran += 1;
    const world = new World(subject, tenants);
    try {
      for (const command of sequence) {
        operations += 1;
        await step(world, command);
        await look(world, 'chat' in command ? command.chat : 0);
      }
    } finally {
      comparisons += world.comparisons;
    }
  });
  const plugins = timeLimitMs === undefined ? [] : [fc.interruptAfterTimeLimit(timeLimitMs)];
  const parameters: fc.Parameters<[readonly Command[]]> = { seed, numRuns: sequences, plugins };
  const details = await fc.check(property, parameters);
  const divergence = details.counterexample === null ? undefined : told(details.counterexample[0], details.errorInstance);
  return { seed, sequences: ran, operations, comparisons, divergence };
}

function told(sequence: readonly Command[], error: unknown): ModelReport['divergence'] {
  return {
    what: error instanceof Error ? (error.name === 'Divergence' ? error.message : String(error.stack)) : String(error),
    commands: sequence.map(describe),
  };
}

/** For people: what was run, and how to see it again. */
export function report({ seed, sequences, operations, comparisons, divergence }: ModelReport, name: string): string {
  const counts = `${name}: seed ${seed}, ${sequences} sequences, ${operations} operations, ${comparisons} comparisons`;
  if (divergence === undefined) return `${counts}, divergences 0`;
  const lines = divergence.commands.map((line, i) => `  ${i + 1}. ${line}`);
  return [`${counts}, divergences 1`, ...lines, `  => ${divergence.what}`].join('\n');
}
