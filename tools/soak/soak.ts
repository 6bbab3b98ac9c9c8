/**
 * `npm run soak -- --minutes N [--store embedded|redis] [--seed S]`: random work against a store (both, one after the
 * other, unless one is named) and the reference model, for so long. It prints the seed, the operations and the
 * divergences; a divergence is shrunk, printed as the commands that show it, and ends the run with code 1.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { embeddedSubject } from '../../packages/store/src/testing/model/embedded-subject.js';
import type { Subject } from '../../packages/store/src/testing/model/index.js';
import { redisSubject } from '../../packages/store/src/testing/model/redis-subject.js';
import { SEEDS, soak } from './run-soak.js';

const STORES: Readonly<Record<string, () => Promise<Subject>>> = { embedded: embeddedSubject, redis: redisSubject };

function readArguments(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: { minutes: { type: 'string', default: '1' }, store: { type: 'string' }, seed: { type: 'string' } },
  });
  const { store } = values;
  const [minutes, seed] = [Number(values.minutes), values.seed === undefined ? randomInt(SEEDS) : Number(values.seed)];
  if (!(minutes > 0)) throw new Error('--minutes is a number above 0');
  if (!Number.isInteger(seed) || seed < 0 || seed >= SEEDS) throw new Error('--seed is an integer, as an earlier run printed it');
  const stores = Object.entries(STORES).filter(([name]) => store === undefined || name === store);
  if (stores.length === 0) throw new Error('--store is embedded or redis');
  return { minutes, seed, stores };
}

try {
  const { minutes, stores, seed } = readArguments(process.argv.slice(2));
  const options = { minutes, seed, monotonicNow: () => performance.now(), print: (line: string) => console.log(line) };
  for (const [name, open] of stores) if (!(await soak(name, open, options))) process.exitCode = 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
