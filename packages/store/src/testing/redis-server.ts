/**
 * A real redis-server for tests: a free loopback port, a temporary folder, nothing of the machine's own Redis.
 *
 * It ends with the process that started it, also when a test forgets to stop it. Needs `redis-server` on the path.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CommandLog, openCommandLog } from './command-log.js';

export interface RedisServerOptions {
  /** `no`: nothing on disk. The others append each write, flushed once a second or before each answer. */
  readonly appendonly?: 'no' | 'everysec' | 'always';
  /** More arguments, such as ['--maxmemory', '100mb']. They come last, so they win. */
  readonly args?: readonly string[];
}

export interface RedisServer {
  readonly port: number;
  /** redis://127.0.0.1:port, database 0, no password. */
  readonly url: string;
  readonly folder: string;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
  /** Ends the process and keeps the folder. SIGKILL unless told otherwise. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same port and folder, after `kill`; other arguments replace the first ones. */
  restart(args?: readonly string[]): Promise<void>;
  /** Suspends and resumes the process: connections stay open and nothing is answered. */
  pause(): void;
  resume(): void;
  /** Every command that the server runs from now on, those inside scripts included. */
  commandLog(): Promise<CommandLog>;
}

/** Another process may take a port between its choice and its use. */
const START_TRIES_MAX = 5;
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'qim-redis-'));
  let failure: unknown;
  for (let tries = 0; tries < START_TRIES_MAX; tries += 1) {
    const port = await freePort();
    try {
      return handle(port, folder, options, await launch(argumentsFor(port, folder, options)));
    } catch (error) {
      failure = error;
    }
  }
  await rm(folder, { recursive: true, force: true });
  throw failure;
}

function handle(port: number, folder: string, options: RedisServerOptions, first: ChildProcess): RedisServer {
  let child = first;
  const kill = (signal: NodeJS.Signals) => end(child, signal);
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    folder,
    kill: (signal = 'SIGKILL') => kill(signal),
    stop: async () => {
      await kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
    restart: async (args) => {
      child = await launch(argumentsFor(port, folder, args === undefined ? options : { ...options, args }));
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    commandLog: () => openCommandLog(port),
  };
}

function argumentsFor(port: number, folder: string, options: RedisServerOptions): readonly string[] {
  const { appendonly = 'no', args = [] } = options;
  const durability = appendonly === 'no' ? ['--appendonly', 'no'] : ['--appendonly', 'yes', '--appendfsync', appendonly];
  return ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--daemonize', 'no', ...durability, ...args];
}

/** Resolves when it takes connections; rejects with what it printed when it ended before. */
async function launch(args: readonly string[]): Promise<ChildProcess> {
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  let printed = '';
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      printed += chunk.toString();
      if (printed.includes('Ready to accept connections')) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}: ${printed}`)));
  });
  child.stdout.removeAllListeners('data').resume();
  child.stderr.removeAllListeners('data').resume();
  return child;
}

function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill(signal);
  });
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (address !== null && typeof address === 'object') resolve(address.port);
        else reject(new Error('no port was given'));
      });
    });
  });
}
