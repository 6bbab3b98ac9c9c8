/** Runs the command in this process, with lines kept instead of printed. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Environment, type ServerIo, serverIo } from '@qim/server';
import { onTestFinished } from 'vitest';
import type { CliIo } from '../src/command.js';
import { runCli } from '../src/program.js';

export interface Called {
  readonly code: number;
  readonly out: readonly string[];
  readonly err: readonly string[];
}

export interface Surroundings extends Partial<Pick<ServerIo, 'openStore' | 'now' | 'monotonicNow'>> {
  readonly environment?: Environment;
  /** Given how to send a stop signal. */
  readonly stopSignals?: (signal: () => void) => void;
  /** Given: standard error is a terminal, and this draws on it. */
  readonly draw?: (line: string) => void;
  /** Called at each line of standard output. */
  readonly onLine?: (line: string) => void;
}

export async function qim(argv: readonly string[], surroundings: Surroundings = {}): Promise<Called> {
  const out: string[] = [];
  const err: string[] = [];
  const real = serverIo({
    out: (line) => {
      out.push(line);
      surroundings.onLine?.(line);
    },
    err: (line) => err.push(line),
  });
  const io: CliIo = {
    ...real,
    now: surroundings.now ?? real.now,
    monotonicNow: surroundings.monotonicNow ?? real.monotonicNow,
    openStore: surroundings.openStore ?? real.openStore,
    pageFolder: undefined,
    environment: surroundings.environment ?? {},
    draw: surroundings.draw,
    onStopSignal(listener) {
      surroundings.stopSignals?.(listener);
      return () => {};
    },
  };
  return { code: await runCli(argv, io), out, err };
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'qim-cli-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
