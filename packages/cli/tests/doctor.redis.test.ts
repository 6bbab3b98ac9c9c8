/** `qim doctor` on a real Redis and a real Cluster: what is wrong with them is said, what is sound is not complained of. */
import { openStore, readSettings } from '@qim/server';
import { type RedisServer, type RedisServerOptions, startRedis, startRedisCluster } from '@qim/store/testing';
import { expect, onTestFinished, test } from 'vitest';
import type { Finding } from '../src/doctor/diagnosis.js';
import { qim } from './calling.js';

async function redis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const server = await startRedis(options);
  onTestFinished(() => server.stop());
  return server;
}

function opened(url: string) {
  return openStore(readSettings(['store', 'data'], { flags: { store: url }, environment: {} }), { as: 'server' });
}

async function examine(url: string) {
  const { code, out } = await qim(['doctor', '--store', url, '--over', '0ms', '--json']);
  const lines = out.map((line) => JSON.parse(line) as Finding | { readonly setAside: { readonly reason: string } });
  const findings = lines.filter((line): line is Finding => 'check' in line);
  const of = (check: string) => findings.find((finding) => finding.check === check);
  return { code, of, setAside: lines.flatMap((line) => ('setAside' in line ? [line.setAside] : [])) };
}

test('a Redis that would be refused at start is examined all the same', async () => {
  const server = await redis({ args: ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'] });
  const { code, of } = await examine(server.url);
  expect(of('reachable')).toMatchObject({ level: 'ok' });
  expect(of('eviction')).toMatchObject({ level: 'wrong', node: `127.0.0.1:${server.port}`, todo: expect.stringContaining('noeviction') });
  expect(of('append-only file')).toMatchObject({ level: 'wrong' });
  expect(of('replicas')).toMatchObject({ level: 'warning' });
  expect(of('deployment')).toMatchObject({ level: 'warning' });
  expect(of('memory')).toMatchObject({ level: 'ok', found: expect.stringContaining('left') });
  expect(code).toBe(1);
});

test('partitions, their owners, what waits and what was set aside are told', async () => {
  const server = await redis({ appendonly: 'always' });
  const store = await opened(server.url);
  onTestFinished(() => store.close());
  expect((await examine(server.url)).of('partitions')).toMatchObject({ level: 'warning', found: '0 of 64 are followed, by 0 processes' });
  const leases = await Promise.all(
    Array.from({ length: 64 }, (_, partition) => store.outbox.acquire(partition, `owner ${partition % 2}`, 60_000)),
  );
  const sound = await examine(server.url);
  expect(sound.of('partitions')).toMatchObject({ level: 'ok', found: '64 of 64 are followed, by 2 processes' });
  expect(sound.of('append-only file')).toMatchObject({ level: 'ok', found: 'flushed before each answer' });
  expect(sound.of('delivery')).toMatchObject({ level: 'ok', found: 'nothing waits' });
  const [lease] = leases;
  if (lease === undefined) throw new Error('it was free');
  expect(await store.outbox.setAside(lease, '1-1', 'CorruptRecord recordUnreadable')).toBe(true);
  const { of, setAside, code } = await examine(server.url);
  expect(of('set aside')).toMatchObject({ level: 'warning' });
  expect(setAside).toEqual([expect.objectContaining({ reason: 'CorruptRecord recordUnreadable' })]);
  expect(code).toBe(1);
});

test('a Redis that is away is one line, with what to do', async () => {
  const server = await redis();
  await server.kill();
  const { code, of } = await examine(server.url);
  expect(of('reachable')).toMatchObject({
    level: 'wrong',
    found: expect.stringContaining('ECONNREFUSED'),
    todo: expect.stringContaining('--store'),
  });
  expect(code).toBe(1);
});

test('of a Cluster each primary is examined, and the slots', async () => {
  const cluster = await startRedisCluster({ replicas: 0 });
  onTestFinished(() => cluster.stop());
  const store = await opened(cluster.url);
  onTestFinished(() => store.close());
  const { of } = await examine(cluster.url);
  expect(of('slots')).toMatchObject({ level: 'ok', found: '16384 of 16384 slots are served, the Cluster says ok' });
  expect(of('partitions')).toMatchObject({ level: 'warning', found: expect.stringContaining('0 of 64') });
});
