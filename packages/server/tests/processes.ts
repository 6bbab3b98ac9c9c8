/** `qim` as a process, as it was built: `npm run build:code` comes first. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const QIM = fileURLToPath(new URL('../../cli/bin/qim.js', import.meta.url));

export interface Process {
  readonly child: ChildProcess;
  readonly out: string[];
  readonly err: string[];
  /** The URL of the ready line. @rejects when the process ends without one */
  readonly ready: Promise<string>;
  /** The exit code; null: by a signal. */
  readonly ended: Promise<number | null>;
}

const running = new Set<ChildProcess>();

/** Of nobody's environment but the path: a QIM_ variable of the machine must not decide a test. */
export function startQim(args: readonly string[], { cwd, env = {} }: { cwd: string; env?: Record<string, string> }): Process {
  const child = spawn(process.execPath, [QIM, ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const out: string[] = [];
  const err: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => err.push(line));
  const ended = once(child, 'close').then(([code]) => {
    running.delete(child);
    return code as number | null;
  });
  const ready = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      out.push(line);
      const url = /^qim ready at (\S+)$/.exec(line)?.[1];
      if (url !== undefined) resolve(url);
    });
    void ended.then((code) => reject(new Error(`qim ended with ${code} before it was ready: ${err.join('\n')}`)));
  });
  ready.catch(() => {});
  return { child, out, err, ready, ended };
}

export function killAll(): void {
  for (const child of running) child.kill('SIGKILL');
}
