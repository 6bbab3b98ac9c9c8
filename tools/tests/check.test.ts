/** The check runs all that it was asked to, and does not pass for having looked at nothing. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { command } from '../check/command.js';
import { chosenSteps, runSteps } from '../check/run-steps.js';
import { STEPS, type Step } from '../check/steps.js';
import { trackedFiles } from '../check/tracked.js';

const step = (name: string, run: Step['run']): Step => ({ name, run });

test('a failure, or an error of a step itself, does not keep the next one from running', async () => {
  const printed: string[] = [];
  const steps = [
    step('first', () => Promise.resolve(['a problem'])),
    step('second', () => Promise.reject(new Error('no such tool'))),
    step('third', () => Promise.resolve([])),
  ];
  expect(await runSteps(steps, [], (line) => printed.push(line))).toEqual({ passed: 1, failed: 2 });
  expect(printed.map((line) => line.trim().split('  ')[0])).toEqual(['FAILED', 'a problem', 'FAILED', 'no such tool', 'ok']);
});

test('what a step notes although it holds is told under it', async () => {
  const printed: string[] = [];
  const noting = step('noting', async (_, note) => {
    note('not asked');
    return [];
  });
  expect(await runSteps([noting], [], (line) => printed.push(line.trim()))).toEqual({ passed: 1, failed: 0 });
  expect(printed[1]).toBe('not asked');
});

test('words choose steps by name', () => {
  expect(chosenSteps(STEPS, ['schema']).length).toBeGreaterThan(2);
  expect(chosenSteps(STEPS, [])).toEqual(STEPS);
  expect(chosenSteps(STEPS, ['no such step'])).toEqual([]);
});

test('a command that fails says so, with what it printed', async () => {
  const outcome = await command(process.execPath, ['-e', 'console.log("out"); console.error("err"); process.exit(3)']);
  expect(outcome).toMatchObject({ code: 3, stdout: 'out\n' });
  expect(outcome.output).toContain('err');
});

test('the files of the repository are listed, new ones included, and ignored ones not', async () => {
  const tracked = await trackedFiles(fileURLToPath(new URL('../..', import.meta.url)));
  expect(tracked).toContain('tools/tests/check.test.ts');
  expect(tracked.filter((path) => path.includes('node_modules') || path.includes('/dist/'))).toEqual([]);
});

test('a folder that git does not know is an error, not an empty list', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'qim-check-'));
  try {
    await expect(trackedFiles(folder)).rejects.toThrow('git ls-files');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
