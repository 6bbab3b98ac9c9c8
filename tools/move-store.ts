/**
 * `npm run move-store [-- --messages N] [-- --users N]`: fills an embedded store, and moves it by the built `qim export` and
 * `qim import` to a Redis, from there to a Redis Cluster, and back home. After each move it asks every user's whole list, and
 * compares all that it says of each conversation with what it said at first.
 *
 * Needs `npm run build` and redis-server. Ends with 1 when anything is not as it was.
 */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Store } from '@qim/store';
import { openEmbeddedStore } from '@qim/store/embedded';
import { openRedisStore } from '@qim/store/redis';
import { type StoreLocation, startRedis, startRedisCluster } from '@qim/store/testing';
import { deliver, fill, talksOf } from './fsck-million/fill.js';
import { type Lists, listsOf, moved } from './move-store/lists.js';
import { type Ran, runQim } from './testing/qim-command.js';

interface Place {
  readonly name: string;
  readonly location: StoreLocation;
  readonly open: () => Promise<Store>;
}

const { values } = parseArgs({
  options: { messages: { type: 'string', default: '100000' }, users: { type: 'string', default: '200' } },
});
const [messages, users] = [Number(values.messages), Number(values.users)];
const folder = await mkdtemp(join(tmpdir(), 'qim-move-'));
const redis = await startRedis();
const cluster = await startRedisCluster({ replicas: 0 });

function embedded(name: string): Place {
  const data = join(folder, name);
  return { name, location: { store: 'embedded', data }, open: () => openEmbeddedStore(data) };
}

function onRedis(name: string, url: string): Place {
  return { name, location: { store: url, data: folder }, open: () => openRedisStore(url) };
}

async function lists(place: Place): Promise<Lists> {
  const store = await place.open();
  try {
    return await listsOf(store, users);
  } finally {
    await store.close();
  }
}

async function mustRun(command: string, location: StoreLocation, file: string): Promise<Ran> {
  const ran = await runQim(command, location, ['--file', file]);
  if (ran.code !== 0) throw new Error(`qim ${command} ended with ${ran.code}: ${ran.err}`);
  return ran;
}

function costOf({ seconds, peakOwnMb }: Ran): string {
  return `${seconds.toFixed(1)} s (${peakOwnMb} MB)`;
}

async function move(from: Place, to: Place, first: Lists): Promise<boolean> {
  const file = join(folder, `${to.name.replaceAll(' ', '-')}.qim`);
  const out = await mustRun('export', from.location, file);
  const into = await mustRun('import', to.location, file);
  const differing = moved(first, await lists(to));
  const megabytes = ((await stat(file)).size / 1024 / 1024).toFixed(1);
  await rm(file);
  console.log(`${from.name} -> ${to.name}: export ${costOf(out)}, ${megabytes} MB, import ${costOf(into)}`);
  console.log(`  ${out.out.trim()}`);
  console.log(`  ${first.users} users, ${first.summaries.size} summaries, ${first.unread} unread: ${differing.length} differ`);
  for (const text of differing.slice(0, 5)) console.log(`    ${text}`);
  return differing.length === 0;
}

async function main(): Promise<boolean> {
  const home = embedded('embedded');
  const { talks } = talksOf(messages, 0, users);
  const store = await home.open();
  await fill(store, talks, () => {});
  await deliver(store, talks);
  await store.close();
  const first = await lists(home);
  console.log(`filled with ${messages} messages: ${first.users} users with ${first.summaries.size} entries in their lists`);
  const stations = [home, onRedis('Redis', redis.url), onRedis('Redis Cluster', cluster.url), embedded('embedded again')];
  let same = first.users === users;
  for (const [i, to] of stations.slice(1).entries()) {
    const from = stations[i];
    if (from !== undefined) same = (await move(from, to, first)) && same;
  }
  return same;
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} finally {
  await Promise.all([redis.stop(), cluster.stop()]);
  await rm(folder, { recursive: true, force: true });
}
