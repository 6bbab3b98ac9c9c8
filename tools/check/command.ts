/** Runs one command to its end and keeps what it said. */
import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Outcome {
  /** Exit code; 1 when a signal ended it. */
  readonly code: number;
  readonly stdout: string;
  /** Standard output and error, interleaved as they came. */
  readonly output: string;
}

const BIN = fileURLToPath(new URL('../../node_modules/.bin', import.meta.url));

/** @throws when the program cannot be started. */
export function command(program: string, args: readonly string[], cwd = process.cwd()): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    // buf looks for its plugin, and npx is not always around us.
    const env = { ...process.env, PATH: `${BIN}${delimiter}${process.env.PATH ?? ''}` };
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const stdout: Buffer[] = [];
    const output: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => {
      stdout.push(chunk);
      output.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
    child.on('error', reject);
    child.on('close', (code) =>
      resolve({ code: code ?? 1, stdout: Buffer.concat(stdout).toString(), output: Buffer.concat(output).toString() }),
    );
  });
}

/** A tool that the lock file pins: never one that happens to be on PATH. */
export function tool(name: string, args: readonly string[], cwd?: string): Promise<Outcome> {
  return command(join(BIN, name), args, cwd);
}
