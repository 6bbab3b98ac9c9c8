/**
 * `npm run chaos -- [--minutes N] [--seed S] [--store embedded|redis|cluster] [--servers N]`: real processes that die, hang and
 * lose their links under load (all stores, one after the other, unless one is named). Prints the seed, the faults by kind,
 * and what was acknowledged, lost, doubled and diverged. Exit code 0: nothing was; 1: something was; 2: it could not run.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { SEEDS } from '../packages/store/src/testing/random.js';
import { runChaos } from './chaos/run-chaos.js';
import { STORE_NAMES } from './chaos/schedule.js';

const SERVERS_MAX = 8;

function readArguments(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ args: [...args], options: { minutes: text, seed: text, store: text, servers: text } });
  const [minutes, seed] = [Number(values.minutes ?? '1'), Number(values.seed ?? randomInt(SEEDS))];
  if (!(minutes > 0)) throw new Error('--minutes is a number above 0');
  if (!Number.isInteger(seed) || seed < 0 || seed >= SEEDS) throw new Error('--seed is an integer, as an earlier run printed it');
  const stores = STORE_NAMES.filter((name) => values.store === undefined || name === values.store);
  if (stores.length === 0) throw new Error(`--store is ${STORE_NAMES.join(' or ')}`);
  const servers = Number(values.servers ?? '2');
  if (!Number.isInteger(servers) || servers < 1 || servers > SERVERS_MAX) throw new Error(`--servers is 1 to ${SERVERS_MAX}`);
  return { minutes, seed, stores, servers };
}

try {
  const { minutes, seed, stores, servers } = readArguments(process.argv.slice(2));
  for (const store of stores) {
    const count = store === 'embedded' ? 1 : servers;
    const held = await runChaos({ store, seed, minutes, servers: count, print: (line) => console.log(line) });
    if (held) continue;
    console.log(`again: npm run chaos -- --store ${store} --seed ${seed} --minutes ${minutes} --servers ${count}`);
    process.exitCode = 1;
  }
} catch (error) {
  console.error(error);
  process.exitCode = 2;
}
// Clients and servers are gone by now; what is left are their timers.
process.exit();
