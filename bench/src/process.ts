/** Server processes of a run: the built `qim serve`, and the bare servers that it is measured against. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import type { Profiler } from 'node:inspector';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Cleanup, temporaryFolder } from './stores.js';

const QIM = fileURLToPath(new URL('../../packages/cli/bin/qim.js', import.meta.url));
const CLOCK_TICKS_PER_SECOND = 100;

export interface ServerProcess {
  /** http://127.0.0.1:port */
  readonly url: string;
  readonly pid: number;
  /** Seconds on the CPU so far. */
  cpuSeconds(): Promise<number>;
  /** Resident memory. */
  residentBytes(): Promise<number>;
  stop(): Promise<void>;
  /** After `stop`, when it was started to be profiled. */
  profile(): Promise<Profiler.Profile>;
}

export interface QimProcessOptions {
  /** 'embedded' or a URL of Redis. */
  readonly store: string;
  readonly profiled?: boolean;
  readonly flags?: readonly string[];
}

export async function startQim(cleanup: Cleanup, { store, profiled = false, flags = [] }: QimProcessOptions): Promise<ServerProcess> {
  const data = await temporaryFolder(cleanup);
  const node = profiled ? ['--cpu-prof', '--cpu-prof-dir', data] : [];
  const args = [...node, QIM, 'serve', '--dev', '--port', '0', '--data', data, '--store', store, '--log-level', 'warn', ...flags];
  return startNode(cleanup, args, data);
}

/** `name`: a program of this folder, which prints `ready at URL`. */
export async function startBare(cleanup: Cleanup, name: string, args: readonly string[] = []): Promise<ServerProcess> {
  const fromSource = import.meta.url.endsWith('.ts');
  const program = fileURLToPath(new URL(`./bare/${name}.${fromSource ? 'ts' : 'js'}`, import.meta.url));
  const loader = fromSource ? ['--conditions=@qim/source', '--import', 'tsx'] : [];
  return startNode(cleanup, [...loader, program, ...args], await temporaryFolder(cleanup));
}

async function startNode(cleanup: Cleanup, args: readonly string[], folder: string): Promise<ServerProcess> {
  const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH }, stdio: ['ignore', 'pipe', 'inherit'] });
  const stop = () => ended(child);
  cleanup.add(stop);
  const url = await readyUrl(child);
  const { pid = 0 } = child;
  return {
    url,
    pid,
    stop,
    async cpuSeconds() {
      // The program's name is in brackets and may hold blanks.
      const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
    },
    async residentBytes() {
      return Number(/VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
    },
    async profile() {
      const name = (await readdir(folder)).find((each) => each.endsWith('.cpuprofile'));
      if (name === undefined) throw new Error('the server wrote no profile');
      return JSON.parse(await readFile(join(folder, name), 'utf8')) as Profiler.Profile;
    },
  };
}

async function readyUrl(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('its standard output is a pipe');
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /ready at (\S+)$/.exec(line)?.[1];
    if (url !== undefined) return new URL(url).origin;
  }
  throw new Error('a server ended before it was ready: was everything built?');
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  await closed;
}

/** As the page does it. */
export async function devToken(url: string, user: string): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(new URL('/dev/login', url), { method: 'POST', headers, body: JSON.stringify({ user }) });
  if (!answer.ok) throw new Error(`no token: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { token: string }).token;
}
