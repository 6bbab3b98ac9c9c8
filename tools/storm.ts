/**
 * `npm run storm -- [--sockets N] [--members N --connected N] [--store embedded|redis]`: sockets that are dropped at once, and
 * a group of the greatest size, on the server that was built. Exit code 0: all came back, and all had every message.
 */
import { parseArgs } from 'node:util';
import { openWorld } from './chaos/world.js';
import { bigGroup } from './storm/big-group.js';
import { storm } from './storm/storm.js';

const text = { type: 'string' } as const;
const { values } = parseArgs({ options: { sockets: text, members: text, connected: text, store: text } });
const numbers = {
  sockets: Number(values.sockets ?? 5_000),
  members: Number(values.members ?? 10_000),
  connected: Number(values.connected ?? 500),
};
const store = values.store ?? 'embedded';
if (store !== 'embedded' && store !== 'redis') throw new Error('--store is embedded or redis');
if (Object.values(numbers).some((value) => !Number.isInteger(value) || value < 0)) throw new Error('numbers are whole');

const print = (line: string): void => console.log(line);
const world = await openWorld(store, 1, {});
try {
  const back = numbers.sockets === 0 || (await storm(world, { sockets: numbers.sockets, print }));
  const had = numbers.members === 0 || (await bigGroup(world, { members: numbers.members, connected: numbers.connected, print }));
  process.exitCode = back && had ? 0 : 1;
} finally {
  await world.close();
}
// What is left are the timers of devices that are closed.
process.exit();
