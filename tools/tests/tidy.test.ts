/** Every rule is shown one violation that it must see and one neighbour that it must leave alone. */
import { describe, expect, test } from 'vitest';
import type { SourceFile } from '../tidy/source-file.js';
import { RULES, TREE_RULES, tidy } from '../tidy/tidy.js';

interface Planted {
  readonly bad: SourceFile;
  readonly good: SourceFile;
}

const file = (path: string, text: string): SourceFile => ({ path, text });
const lines = (count: number): string => 'x;\n'.repeat(count);
const SRC = 'packages/session/src/page.ts';
// Texts that the rules look for are put together here, so that this file is tidy itself.
const OLD_KEY = `'${'hi'}${'st'}:'`;
const PLAN = ['TO', 'DO'].join('');
const HOME = ['', 'home', 'ann', 'qim'].join('/');

const PLANTED: Record<string, Planted> = {
  'file-length': { bad: file(SRC, lines(401)), good: file(SRC, lines(400)) },
  'function-length': {
    bad: file(SRC, `function f() {\n${lines(69)}}`),
    good: file(SRC, `function f() {\n${lines(68)}}`),
  },
  environment: {
    bad: file(SRC, "const port = process.env['QIM_PORT'];"),
    good: file('packages/server/src/environment.ts', "const port = process.env['QIM_PORT'];"),
  },
  clock: { bad: file(SRC, 'const now = Date.now;'), good: file(SRC, '// Date.now is passed in\nconst at = new Date(now());') },
  'sleep-in-test': {
    bad: file('packages/session/tests/a.test.ts', 'await new Promise((done) => setTimeout(done, 50));'),
    good: file('packages/session/tests/a.test.ts', 'await vi.waitFor(() => expect(seen).toBe(1));'),
  },
  'unrun-test': {
    bad: file('packages/session/tests/a.test.ts', "test.skip('a', () => {});"),
    good: file('packages/session/tests/a.test.ts', "test.each([1])('a', () => { list.skip(1); });"),
  },
  'old-history-key': {
    bad: file(SRC, `const key = ${OLD_KEY};`),
    good: file('packages/session/tests/a.test.ts', `const key = ${OLD_KEY};`),
  },
  'key-literal': {
    bad: file('packages/store/src/redis/directory.ts', 'const key = `convs:{$' + '{user}}`;'),
    good: file('packages/store/src/redis/keys.ts', 'const key = `convs:{$' + '{user}}`;'),
  },
  'brand-cast': { bad: file(SRC, 'const user = text as UserId;'), good: file(SRC, 'const user = parseUserId(text);') },
  'left-over': { bad: file('docs/storage.md', `${PLAN}: tell more`), good: file('docs/storage.md', 'a todo list of the user') },
  'machine-path': { bad: file('scripts/run.sh', `cd ${HOME}`), good: file('scripts/run.sh', 'cd packages/home/ann') },
  limit: { bad: file(SRC, 'const max = 16 * 1024;'), good: file(SRC, 'const ms = seconds * 1000 + 0xffff_ffff;') },
  'package-readme': {
    bad: file('packages/push/package.json', '{}'),
    good: file('packages/push/README.md', 'The delivery side.'),
  },
  'front-door': { bad: file('packages/push/LICENSE', ''), good: file('LICENSE', 'Apache License') },
  'exact-version': {
    bad: file('packages/push/package.json', '{"dependencies":{"ws":"^8.0.0"}}'),
    good: file('packages/push/package.json', '{"dependencies":{"ws":"8.23.0"}}'),
  },
  'named-path': {
    bad: file('docs/storage.md', 'see [decisions](decisions/0001.md)'),
    good: file('docs/storage.md', 'see [this](storage.md), `docs/storage.md` and [that](https://example.org/x.md)'),
  },
};

const found = (rule: string, files: readonly SourceFile[]): string[] => tidy(files, []).filter((line) => line.startsWith(`${rule}: `));

describe('tidy', () => {
  test('every rule has a planted violation', () => {
    expect(Object.keys(PLANTED).sort()).toEqual([...RULES, ...TREE_RULES].map((rule) => rule.name).sort());
  });

  for (const [rule, { bad, good }] of Object.entries(PLANTED)) {
    test(`${rule} sees its violation, names the file and says what to do instead`, () => {
      const problems = found(rule, [bad]);
      expect(problems.length).toBeGreaterThan(0);
      expect(problems[0]).toContain('; instead: ');
    });
    test(`${rule} leaves what is right alone`, () => {
      const about = rule === 'front-door' ? ' LICENSE' : rule;
      expect(found(rule, [good]).filter((line) => line.includes(about) && line.includes(good.path))).toEqual([]);
    });
  }

  test('an exception covers as many findings as it says and not one more', () => {
    const twice = file(SRC, 'const a = Date.now();\nconst b = Date.now();');
    const allow = (times: number) =>
      tidy([twice], [{ rule: 'clock', path: SRC, times, why: 'a test' }]).filter((line) => /clock/.test(line));
    expect(allow(2)).toEqual([]);
    expect(allow(1)).toHaveLength(1);
    expect(allow(3)).toEqual([expect.stringContaining('lower it')]);
  });

  test('an exception for a rule that does not exist is a finding', () => {
    const problems = tidy([file(SRC, '')], [{ rule: 'clok', path: SRC, times: 1, why: 'a typing error' }]);
    expect(problems).toContainEqual(expect.stringContaining('names no rule: clok'));
  });

  test('no file at all is a finding', () => {
    expect(tidy([], [])).not.toEqual([]);
  });
});
