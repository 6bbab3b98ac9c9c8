/** docs/reliability.md says where each case from other systems is tested; here it is held to that. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { casesOf } from '../cases/cases-doc.js';
import { referenceProblems } from '../seed/seed-doc.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const cases = casesOf(readFileSync(`${ROOT}/docs/reliability.md`, 'utf8'));

/** The numbers of the collection; the missing ones were merged into others. */
const NUMBERS = [
  1, 2, 3, 4, 6, 7, 8, 10, 11, 12, 14, 15, 17, 18, 19, 20, 21, 23, 24, 25, 27, 29, 30, 31, 32, 34, 35, 37, 38, 39, 40, 42, 43, 44, 45, 47,
  48, 52, 53, 55, 56, 58, 60, 61, 63, 64,
];

test('every case has its row', () => {
  expect(cases.map(({ number }) => number)).toEqual(NUMBERS);
});

test('every row names tests that are there, or says why there is none', () => {
  expect(referenceProblems(cases, ROOT)).toEqual([]);
});

test('a row without a test, and one whose test is not there, are seen', () => {
  const here = 'tools/tests/cases-doc.test.ts';
  const rows = casesOf(
    `| 1 | what | nothing |\n| 2 | what | \`${here}\` \`${['no test', 'of that name'].join(' ')}\` |\n| 3 | what | not built: later |`,
  );
  expect(referenceProblems(rows, ROOT)).toHaveLength(2);
});
