/** HS256 secrets: from a file of the operator's, or, under `--dev`, from one that is made in the data folder. */
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { JWT_SECRET_BYTES_MIN, utf8Bytes } from '@qim/proto';
import { StartError, systemCode } from './errors.js';

/** The current secret, and the previous one where the file still has it. */
export type Secrets = readonly [current: string, previous?: string];

/** Where `--dev` keeps its secret. */
function devSecretFile(dataFolder: string): string {
  return join(dataFolder, 'dev-secret');
}

/**
 * One or two lines; the line end is not part of a secret.
 *
 * @throws StartError BadSecret: no such file, no permission, more than two lines, or a line that is too short
 */
export async function readSecrets(file: string): Promise<Secrets> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new StartError('BadSecret', `cannot read the secret file ${file}: ${reasonOf(error)}`);
  });
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/);
  const [current = '', previous] = lines;
  if (lines.length > 2) {
    throw new StartError('BadSecret', `the secret file ${file} must have one line, or two: the current secret and the previous one`);
  }
  for (const secret of lines) {
    if (utf8Bytes(secret) < JWT_SECRET_BYTES_MIN) {
      throw new StartError('BadSecret', `each secret in ${file} must be at least ${JWT_SECRET_BYTES_MIN} bytes long`);
    }
  }
  return previous === undefined ? [current] : [current, previous];
}

/** @throws StartError BadSecret: no such file, no permission, or not exactly one line with something on it */
export async function readStorePassword(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new StartError('BadSecret', `cannot read the password file ${file}: ${reasonOf(error)}`);
  });
  const password = text.replace(/\r?\n$/, '');
  if (password === '' || /[\r\n]/.test(password)) throw new StartError('BadSecret', `the password file ${file} must have one line`);
  return password;
}

/**
 * The secret that a `--dev` server of this data folder has made.
 *
 * @throws StartError BadSecret; when there is none it says how to get one
 */
export async function readDevSecrets(dataFolder: string): Promise<Secrets> {
  const file = devSecretFile(dataFolder);
  if (!(await exists(file))) {
    throw new StartError('BadSecret', `${dataFolder} has no --dev secret: start "qim serve --dev" on it first, or give --jwt-secret-file`);
  }
  return readSecrets(file);
}

/**
 * The secret of `--dev`; made when there is none. Of two that start at once one makes it and both use it: it appears under
 * its name only when it is whole, and never replaces another.
 *
 * @throws StartError BadSecret
 */
export async function ensureDevSecret(dataFolder: string, random: (bytes: number) => Buffer): Promise<Secrets> {
  const file = devSecretFile(dataFolder);
  const draft = `${file}.${random(8).toString('hex')}`;
  try {
    await mkdir(dataFolder, { recursive: true, mode: 0o700 });
    if (!(await exists(file))) await publish(draft, file, `${random(JWT_SECRET_BYTES_MIN).toString('base64url')}\n`);
  } catch (error) {
    throw new StartError('BadSecret', `cannot make the --dev secret ${file}: ${reasonOf(error)}`);
  }
  return readSecrets(file);
}

async function publish(draft: string, file: string, text: string): Promise<void> {
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
    await link(draft, file).catch((error: unknown) => {
      if (systemCode(error) !== 'EEXIST') throw error;
    });
  } finally {
    await handle.close();
    await unlink(draft);
  }
}

/** True also when it is there and may not be read: whoever reads it says so. */
function exists(file: string): Promise<boolean> {
  return readFile(file).then(
    () => true,
    (error: unknown) => systemCode(error) !== 'ENOENT',
  );
}

/** The system's word for it, without the path that the caller names. */
function reasonOf(error: unknown): string {
  const code = systemCode(error);
  if (code === 'ENOENT') return 'there is none';
  if (code === 'EACCES' || code === 'EPERM') return 'no permission';
  if (code === 'EISDIR') return 'it is a folder';
  return code ?? 'it failed';
}
