/** A PostgreSQL of the run's own: Debian's programs, a fresh cluster, a Unix socket in its folder, no network. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chown, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { type Cleanup, temporaryFolder } from './stores.js';

const PROGRAMS = '/usr/lib/postgresql';
export const POSTGRES_MISSING = 'PostgreSQL is not here (Debian: apt-get install postgresql): its rows and ratios are left out';
const SETTINGS = ['listen_addresses=', 'shared_buffers=1GB', 'max_wal_size=4GB', 'autovacuum=off', 'jit=off'];

export interface Postgres {
  readonly version: string;
  /** One connection; the caller need not end it. */
  client(): Promise<pg.Client>;
}

/** Undefined: it is not installed. */
export async function startPostgres(cleanup: Cleanup): Promise<Postgres | undefined> {
  const programs = await programFolder();
  if (programs === undefined) return undefined;
  const folder = await temporaryFolder(cleanup);
  const owner = await ownerForServer();
  if (owner !== undefined) await chown(folder, owner.uid, owner.gid);
  const data = join(folder, 'data');
  const run = promisify(execFile);
  await run(join(programs, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'bench', '--no-sync', '--locale=C', '--encoding=UTF8'], {
    cwd: folder,
    ...owner,
  });
  const settings = SETTINGS.flatMap((setting) => ['-c', setting]);
  const server = spawn(join(programs, 'postgres'), ['-D', data, '-k', folder, ...settings], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    ...owner,
  });
  cleanup.add(() => ended(server));
  await readyLine(server);
  const version = (await run(join(programs, 'postgres'), ['--version'])).stdout.trim();
  return {
    version,
    async client() {
      const client = new pg.Client({ host: folder, user: 'bench', database: 'postgres' });
      // The server's end at the close of a run is no failure of a query.
      client.on('error', () => {});
      await client.connect();
      cleanup.add(() => client.end());
      return client;
    },
  };
}

async function programFolder(): Promise<string | undefined> {
  const versions = await readdir(PROGRAMS).catch(() => []);
  const newest = versions.toSorted((a, b) => Number(b) - Number(a))[0];
  return newest === undefined ? undefined : join(PROGRAMS, newest, 'bin');
}

/** PostgreSQL refuses to run as root. */
async function ownerForServer(): Promise<{ readonly uid: number; readonly gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const user = ['postgres', 'nobody'].flatMap((name) => users.filter(([each]) => each === name))[0];
  if (user === undefined) throw new Error('as root PostgreSQL needs a user postgres or nobody to run as');
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

async function readyLine({ stderr }: ChildProcess): Promise<void> {
  if (stderr === null) throw new Error('its standard error is a pipe');
  let printed = '';
  await new Promise<void>((resolve, reject) => {
    stderr.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      if (printed.includes('ready to accept connections')) resolve();
    });
    stderr.once('end', () => reject(new Error(`PostgreSQL ended: ${printed}`)));
  });
  stderr.removeAllListeners('data').resume();
}

function ended(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    server.once('exit', () => resolve());
    // Fast shutdown: open sessions are ended.
    server.kill('SIGINT');
  });
}
