/** On what the figures were taken. */
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { promisify } from 'node:util';
import type { Machine } from './result.js';

export async function describeMachine(): Promise<Machine> {
  const [load = 0] = loadavg();
  const versions = await readdir('/usr/lib/postgresql').catch(() => []);
  const redis = (await promisify(execFile)('redis-server', ['--version'])).stdout;
  return {
    cpu: cpus()[0]?.model.trim() ?? 'an unknown processor',
    cores: cpus().length,
    memoryGB: Math.round(totalmem() / 2 ** 30),
    system: `Linux ${release().split('-')[0]}`,
    node: process.versions.node,
    redis: `Redis ${/v=(\S+)/.exec(redis)?.[1] ?? ''}`,
    postgres: versions.length === 0 ? 'no PostgreSQL' : `PostgreSQL ${versions.toSorted((a, b) => Number(b) - Number(a))[0]}`,
    loadBefore: Math.round(load * 100) / 100,
  };
}
