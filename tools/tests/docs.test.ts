/** Documents show commands that are there, and docs/api.md is what the schema says. Links and paths: tools/tidy. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { flagOf, SETTING_NAMES } from '@qim/server';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../packages/cli/src/program.js';
import { readProto } from '../docs/api-doc.js';
import { shownIn } from '../docs/commands.js';
import { API_DOC, currentApiDoc } from '../docs/schema-files.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { cwd: ROOT, encoding: 'utf8' });
const DOCUMENTS = tracked.split('\n').filter((name) => name !== '');

const scriptsOf = (folder: string): string[] =>
  Object.keys((JSON.parse(readFileSync(`${ROOT}${folder}package.json`, 'utf8')) as { scripts?: object }).scripts ?? {});
// The page has scripts of its own, for `-w @qim/web`.
const scripts = [...scriptsOf(''), ...scriptsOf('packages/web/')];
const flags = new Map(
  COMMANDS.map(({ name, settings, options }) => [
    name,
    new Set([...settings.map((setting) => flagOf(setting).slice(2)), ...options.map((option) => option.name), 'help']),
  ]),
);

/** `qim ready at …` is what the server prints, and `qim system` is a user's id. */
const NO_COMMANDS = new Set(['ready', 'system']);

/** What of a text is not there. */
function missingIn(text: string): string[] {
  const there = shownIn(text).filter(({ kind, name, of }) => {
    if (kind === 'script') return !scripts.includes(name);
    if (kind === 'command' && NO_COMMANDS.has(name)) return false;
    // Of a command that is not there one line is enough.
    return kind === 'command' ? !flags.has(name) : flags.get(of)?.has(name) === false;
  });
  return there.map((one) => one.text);
}

test('enough documents are looked at', () => {
  expect(DOCUMENTS.length).toBeGreaterThan(30);
  expect(SETTING_NAMES.length).toBeGreaterThan(20);
});

test.each(DOCUMENTS)('%s shows no command that is not there', (name) => {
  expect(missingIn(readFileSync(`${ROOT}${name}`, 'utf8'))).toEqual([]);
});

describe('a command that is not there is found', () => {
  test.each([
    ['a script', '`npm run no-such-thing`', 'npm run no-such-thing'],
    ['a command in a sentence', 'call `qim frobnicate` now', 'qim frobnicate'],
    ['a command in a transcript', '```\n$ npx qim frobnicate --all\n```', 'qim frobnicate'],
    ['a flag', '```sh\nqim serve --dev --no-such-flag 3\n```', 'qim serve --no-such-flag'],
    ['a flag on the next line', '```sh\nqim serve --dev \\\n  --no-such-flag\n```', 'qim serve --no-such-flag'],
    ['a flag of another command', '`qim token --repair`', 'qim token --repair'],
  ])('%s', (_, text, found) => expect(missingIn(text)).toEqual([found]));
  test('and what is there is not', () => {
    expect(missingIn('`qim fsck --repair --dry-run | grep --color x`, `npm run check -- tidy`, and qim is a word')).toEqual([]);
  });
});

describe('docs/api.md', () => {
  test('is current: npm run docs:api writes it', () => expect(readFileSync(API_DOC, 'utf8')).toBe(currentApiDoc()));

  test('has every method with its messages', () => {
    const text = currentApiDoc();
    for (const method of ['SendMessage', 'CatchUp', 'GetTotals', 'MintToken', 'Subscribe']) expect(text).toContain(`| ${method} | [`);
    expect(text).toContain('stream of [SubscribeResponse]');
  });

  test('a line of the schema that is not understood is an error, not an omission', () => {
    expect(() => readProto('message A {\n  map<string, int32> b = 1;\n}\n')).toThrow('not understood');
    expect(() => readProto('extend B {}\n')).toThrow('not understood');
  });
});
