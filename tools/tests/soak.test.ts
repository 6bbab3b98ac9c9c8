/** `npm run soak`: how long it runs, and what it says when a store errs. */
import { expect, test } from 'vitest';
import { memorySubject } from '../../packages/store/src/testing/model/memory-subject.js';
import { soak } from '../soak/run-soak.js';

/** A clock that is a minute further with each look. */
function minutes(): () => number {
  let nowMs = 0;
  return () => {
    nowMs += 60_000;
    return nowMs;
  };
}

test('a store that errs ends it: the shrunk commands, what differed, and how to see it again', async () => {
  const lines: string[] = [];
  const erring = () =>
    memorySubject((store) => ({
      ...store,
      messages: { ...store.messages, commit: async (request) => ({ ...(await store.messages.commit(request)), created: false }) },
    }));
  const options = { minutes: 10, seed: 11, monotonicNow: minutes(), print: (line: string) => lines.push(line) };
  expect(await soak('memory', erring, options)).toBe(false);
  expect(lines[0]).toBe('memory: seed 11, for 10 minutes');
  expect(lines[1]).toMatch(
    /^memory: seed 11, .* divergences 1\n {2}1\. alice makes chat 0 .*\n {2}=> the commit: created: model true, store false$/,
  );
  expect(lines[2]).toBe('again: npm run soak -- --store memory --seed 11 --minutes 1');
});

test('a sound store is worked on until the time is up, and what was done is summed up', async () => {
  const lines: string[] = [];
  let opened = 0;
  const open = () => {
    opened += 1;
    return memorySubject();
  };
  const options = { minutes: 2, seed: 11, sequences: 3, monotonicNow: minutes(), print: (line: string) => lines.push(line) };
  expect(await soak('memory', open, options)).toBe(true);
  expect(opened).toBe(2);
  expect(lines[1]).toMatch(/^memory: seed 11, 6 sequences, \d+ operations, \d+ comparisons, divergences 0$/);
});
