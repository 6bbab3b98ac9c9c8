/** Runs the steps of the check one after the other, and tells of each. */
import type { Step } from './steps.js';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

/** Steps whose name holds one of the words; all of them when there is none. */
export function chosenSteps(steps: readonly Step[], words: readonly string[]): readonly Step[] {
  return steps.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
}

/** All of them run, also after a failure; what a step throws is a problem that it found. */
export async function runSteps(steps: readonly Step[], tracked: readonly string[], print: (line: string) => void): Promise<Counts> {
  let failed = 0;
  for (const step of steps) {
    const before = performance.now();
    const notes: string[] = [];
    const problems = await problemsOf(step, tracked, (text) => notes.push(text));
    const seconds = ((performance.now() - before) / 1000).toFixed(1);
    print(`${problems.length === 0 ? 'ok    ' : 'FAILED'}  ${step.name}  ${seconds} s`);
    for (const text of notes) print(`        ${text}`);
    for (const problem of problems) print(problem.replace(/^/gm, '        '));
    if (problems.length > 0) failed += 1;
  }
  return { passed: steps.length - failed, failed };
}

async function problemsOf(step: Step, tracked: readonly string[], note: (text: string) => void): Promise<readonly string[]> {
  try {
    return await step.run(tracked, note);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
