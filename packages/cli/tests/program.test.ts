import { createRequire } from 'node:module';
import { flagOf, SETTING_NAMES, SETTINGS, variableOf } from '@qim/server';
import { expect, test } from 'vitest';
import { qim } from './calling.js';

test('--version prints the version of the package', async () => {
  const { version }: { version: string } = createRequire(import.meta.url)('../package.json');
  expect(await qim(['--version'])).toEqual({ code: 0, out: [version], err: [] });
});

test('--help names the commands on standard output', async () => {
  const { code, out, err } = await qim(['--help']);
  expect([code, err]).toEqual([0, []]);
  for (const name of ['serve', 'token', 'explain']) expect(out.join('\n')).toContain(name);
});

test('the help of serve shows every setting with its variable and its default', async () => {
  const { code, out } = await qim(['serve', '--help']);
  expect(code).toBe(0);
  // Help is folded to a width of its own.
  const help = out.join(' ').replace(/\s+/g, ' ');
  for (const name of SETTING_NAMES) {
    const { fallback } = SETTINGS[name];
    expect(help).toContain(flagOf(name));
    expect(help).toContain(`[${variableOf(name)}${fallback === undefined ? ']' : `, default: ${fallback}]`}`);
  }
});

test('what the command line gets wrong is a usage error: one line on standard error, exit code 2', async () => {
  const wrong: readonly (readonly [readonly string[], string])[] = [
    [['sevre'], 'sevre'],
    [['serve', '--prot', '80'], '--prot'],
    [['serve', '--port'], '--port'],
    [['serve', 'now'], 'too many arguments'],
    [['token'], '--user'],
    [['token', '--user', ''], '--user'],
    [['token', '--user', 'a', '--tenant', '-1'], '--tenant'],
    [['token', '--user', 'a', '--tenant', '4294967296'], '--tenant'],
    [['token', '--user', 'a', '--ttl', '31d'], '--ttl'],
    [['token', '--user', 'a', '--ttl', '1500ms'], '--ttl'],
    [['explain', '--user', 'a'], '--conversation'],
    [['explain', '--user', 'a', '--conversation', 'no spaces'], '--conversation'],
  ];
  for (const [argv, words] of wrong) {
    const { code, out, err } = await qim(argv);
    expect([code, out, err.length], argv.join(' ')).toEqual([2, [], 1]);
    expect(err[0], argv.join(' ')).toContain(words);
  }
});

test('no command at all is a usage error that shows the help', async () => {
  const { code, out, err } = await qim([]);
  expect([code, out]).toEqual([2, []]);
  expect(err.join('\n')).toContain('serve');
});

test('a misspelt variable is a usage error in every command', async () => {
  for (const argv of [
    ['serve', '--dev'],
    ['token', '--user', 'a'],
    ['explain', '--user', 'a', '--conversation', 'c'],
  ]) {
    const { code, err } = await qim(argv, { environment: { QIM_DTAA: '/x' } });
    expect([code, err]).toEqual([2, ['qim: QIM_DTAA: there is no such setting']]);
  }
});

test('the problems of a configuration are told one to a line', async () => {
  const { code, err } = await qim(['serve', '--port', '70000'], { environment: { QIM_LOG_LEVEL: 'loud' } });
  expect(code).toBe(2);
  expect(err.join('\n').split('\n')).toHaveLength(4);
});
