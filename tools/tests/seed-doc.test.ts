/** docs/seed.md says where each clause of the seed is kept; here it is held to that. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { CHINESE, ENGLISH, entriesOf, quotationProblems, referenceProblems } from '../seed/seed-doc.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const seed = readFileSync(`${ROOT}/docs/seed-source.zh.txt`, 'utf8');
const english = entriesOf(readFileSync(`${ROOT}/docs/seed.md`, 'utf8'), ENGLISH);
const chinese = entriesOf(readFileSync(`${ROOT}/docs/seed.zh-CN.md`, 'utf8'), CHINESE);

describe.each([
  ['docs/seed.md', english],
  ['docs/seed.zh-CN.md', chinese],
])('%s', (_, entries) => {
  test('quotes the whole seed, word for word and in its order', () => {
    expect(quotationProblems(entries, seed)).toEqual([]);
  });

  test('names paths, symbols and tests that are there, and says something about each clause', () => {
    expect(referenceProblems(entries, ROOT)).toEqual([]);
  });
});

test('both languages say the same about each clause', () => {
  const facts = (entries: typeof english) => entries.map((entry) => ({ ...entry, line: 0 }));
  expect(facts(chinese)).toEqual(facts(english));
});

describe('the check of the document sees', () => {
  const entry = (over: object) => ({ line: 1, quote: '一二', code: [], tests: [], differs: 0, notes: 1, ...over });

  test('a sentence that is not in the seed', () => {
    expect(quotationProblems([entry({ quote: '一三' })], '一二')[0]).toContain('not in the seed');
  });

  test('a sentence that was left out, before, between and at the end', () => {
    const problems = quotationProblems([entry({ quote: '二' }), entry({ quote: '四' })], '一二三四五');
    expect(problems.map((line) => line.split(': ').at(-1))).toEqual(['一', '三', '五']);
  });

  test('a clause about which nothing is said', () => {
    expect(referenceProblems([entry({ notes: 0 })], ROOT)).toEqual([expect.stringContaining('says nothing')]);
  });

  test('a path, a symbol and a test that are not there', () => {
    const here = 'tools/tests/seed-doc.test.ts';
    const missing = entry({
      code: [
        { path: 'packages/none.ts', name: 'none' },
        { path: 'packages/proto/src/consts.ts', name: 'EXACT_UNREAD' },
      ],
      tests: [{ path: here, name: ['a test', 'of that name'].join(' ') }],
    });
    expect(referenceProblems([missing], ROOT)).toHaveLength(3);
  });

  test('nothing wrong with what is there', () => {
    const right = entry({
      code: [{ path: 'packages/proto/src/consts.ts', name: 'EXACT_UNREAD_SCAN_LIMIT' }],
      tests: [{ path: 'tools/tests/seed-doc.test.ts', name: 'nothing wrong with what is there' }],
    });
    expect(referenceProblems([right], ROOT)).toEqual([]);
  });
});
