/** The built `qim` command, run to its end, and what it took. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { StoreLocation } from '@qim/store/testing';

const QIM = fileURLToPath(new URL('../../packages/cli/bin/qim.js', import.meta.url));
const SAMPLE_MS = 20;

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly seconds: number;
  /** The greatest resident memory, in MB: all of it, and without pages of files (the store's own, mapped by LMDB). */
  readonly peakMb: number;
  readonly peakOwnMb: number;
}

/** `command` with the flags of the store and then `more`. */
export async function runQim(command: string, { store, data }: StoreLocation, more: readonly string[]): Promise<Ran> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [QIM, command, '--store', store, '--data', data, ...more], { stdio: ['ignore', 'pipe', 'pipe'] });
  const closed: Promise<readonly unknown[]> = once(child, 'close');
  const done = new AbortController();
  const peaks = { all: 0, own: 0 };
  const sampling = sample(child.pid, peaks, done.signal);
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  done.abort();
  await sampling;
  const seconds = (performance.now() - startedAt) / 1000;
  return { code: Number(code), out, err, seconds, peakMb: Math.round(peaks.all), peakOwnMb: Math.round(peaks.own) };
}

async function sample(pid: number | undefined, peaks: { all: number; own: number }, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    const kb = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
    peaks.all = Math.max(peaks.all, kb('VmHWM') / 1024);
    peaks.own = Math.max(peaks.own, kb('RssAnon') / 1024);
    await wait(SAMPLE_MS, undefined, { signal }).catch(() => {});
  }
}
