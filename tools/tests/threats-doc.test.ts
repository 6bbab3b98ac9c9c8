/** docs/security.md says which test shows each threat answered; here it is held to that. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { casesOf } from '../cases/cases-doc.js';
import { referenceProblems } from '../seed/seed-doc.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const threats = casesOf(readFileSync(`${ROOT}/docs/security.md`, 'utf8'));

test('threats are numbered without a gap, and none is told twice', () => {
  expect(threats.map(({ number }) => number)).toEqual(threats.map((_, index) => index + 1));
  expect(threats.length).toBeGreaterThanOrEqual(30);
  expect(new Set(threats.map(({ quote }) => quote)).size).toBe(threats.length);
});

test('every threat names tests, and they are there', () => {
  expect(threats.filter(({ tests }) => tests.length === 0)).toEqual([]);
  expect(referenceProblems(threats, ROOT)).toEqual([]);
});
