import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JWT_SECRET_BYTES_MIN } from '@qim/proto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { StartError } from '../src/errors.js';
import { ensureDevSecret, readDevSecrets, readSecrets, readStorePassword } from '../src/secrets.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qim-secrets-'));
});
afterEach(() => rm(folder, { recursive: true }));

const enough = 'x'.repeat(JWT_SECRET_BYTES_MIN);

async function fileOf(text: string): Promise<string> {
  const file = join(folder, 'secret');
  await writeFile(file, text);
  return file;
}

const badSecret = (words: string) => (error: unknown) =>
  error instanceof StartError && error.code === 'BadSecret' && error.message.includes(words) && !error.message.includes('xxx');

test('a secret file has the current secret, and may have the previous one on a second line', async () => {
  expect(await readSecrets(await fileOf(`${enough}\n`))).toEqual([enough]);
  expect(await readSecrets(await fileOf(enough))).toEqual([enough]);
  expect(await readSecrets(await fileOf(`${enough}1\r\n${enough}2\r\n`))).toEqual([`${enough}1`, `${enough}2`]);
});

test('a secret is counted in bytes, and one byte too few is refused on either line', async () => {
  expect(await readSecrets(await fileOf('é'.repeat(JWT_SECRET_BYTES_MIN / 2)))).toHaveLength(1);
  const short = enough.slice(1);
  for (const text of ['', short, `${short}\n`, `${enough}\n${short}\n`, `${enough}\n\n`]) {
    await expect(readSecrets(await fileOf(text))).rejects.toSatisfy(badSecret(`at least ${JWT_SECRET_BYTES_MIN} bytes`));
  }
});

test('a third line is refused', async () => {
  await expect(readSecrets(await fileOf([enough, enough, enough].join('\n')))).rejects.toSatisfy(badSecret('one line, or two'));
});

test('a file that is not there, or is a folder, is named', async () => {
  await expect(readSecrets(join(folder, 'none'))).rejects.toSatisfy(badSecret('none: there is none'));
  await expect(readSecrets(folder)).rejects.toSatisfy(badSecret('it is a folder'));
});

test('a password file has one line, whose end is no part of it', async () => {
  expect(await readStorePassword(await fileOf(' p@ss/word \n'))).toBe(' p@ss/word ');
  for (const text of ['', '\n', 'xxx\nxxx\n', 'xxx\n\n']) {
    await expect(readStorePassword(await fileOf(text))).rejects.toSatisfy(badSecret('must have one line'));
  }
  await expect(readStorePassword(join(folder, 'none'))).rejects.toSatisfy(badSecret('none: there is none'));
});

test('the --dev secret is made once, for the owner alone, in a folder that is made with it', async () => {
  const data = join(folder, 'a', 'data');
  const made = await ensureDevSecret(data, randomBytes);
  expect(await ensureDevSecret(data, randomBytes)).toEqual(made);
  expect(await readDevSecrets(data)).toEqual(made);
  const [name, ...others] = await readdir(data);
  expect(others).toEqual([]);
  expect((await stat(join(data, name ?? ''))).mode & 0o777).toBe(0o600);
  expect((await stat(data)).mode & 0o777).toBe(0o700);
});

test('of many that start at once all use the one secret that is left', async () => {
  const all = await Promise.all(Array.from({ length: 20 }, () => ensureDevSecret(folder, randomBytes)));
  expect(new Set(all.map(([secret]) => secret)).size).toBe(1);
  expect(await readdir(folder)).toEqual(['dev-secret']);
});

test('a --dev secret that is there is never replaced, not even a bad one', async () => {
  await writeFile(join(folder, 'dev-secret'), 'short\n');
  await expect(ensureDevSecret(folder, randomBytes)).rejects.toSatisfy(badSecret('at least'));
  expect(await readFile(join(folder, 'dev-secret'), 'utf8')).toBe('short\n');
});

test('without a --dev secret one is told how to get it', async () => {
  await expect(readDevSecrets(folder)).rejects.toSatisfy(badSecret('qim serve --dev'));
});

test('a data folder that cannot be made is told', async () => {
  const file = await fileOf(enough);
  await expect(ensureDevSecret(join(file, 'data'), randomBytes)).rejects.toSatisfy(badSecret('cannot make the --dev secret'));
});
