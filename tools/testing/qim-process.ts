/** The built `qim serve --dev` as a process that a test can kill. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const QIM = fileURLToPath(new URL('../../packages/cli/bin/qim.js', import.meta.url));

export interface QimProcess {
  /** Of the ready line. */
  readonly url: string;
  /** At once, as a power cut ends it. Resolves when it is gone. */
  kill(): Promise<void>;
}

/** `port` 0 takes a free one. Of nobody's environment but the path. @rejects when it ends before it is ready */
export async function startQimProcess(data: string, port: number): Promise<QimProcess> {
  const args = [QIM, 'serve', '--dev', '--port', String(port), '--data', data, '--log-level', 'warn'];
  const child = spawn(process.execPath, args, { cwd: data, env: { PATH: process.env.PATH }, stdio: ['ignore', 'pipe', 'inherit'] });
  return { url: await readyUrl(child), kill: () => killed(child) };
}

async function readyUrl(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('its standard output is a pipe');
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^qim ready at (\S+)$/.exec(line)?.[1];
    if (url !== undefined) return new URL(url).origin;
  }
  throw new Error('qim ended before it was ready: was it built?');
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  await closed;
}
