/** What `qim doctor` says of a folder, and what each fact of a store makes it say. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DOCTOR_CLOCK_SKEW_MS_MAX, DOCTOR_DAYS_LEFT_MIN, DOCTOR_LAG_MS_MAX, DOCTOR_WINDOW_MS_MAX } from '@qim/proto';
import { openStore } from '@qim/server';
import type { NodeHealth, RedisHealth, StoreHealth } from '@qim/store/health';
import { describe, expect, it, onTestFinished } from 'vitest';
import { diagnose, type Level } from '../src/doctor/diagnosis.js';
import { qim, temporaryFolder } from './calling.js';

const GIB = 1024 ** 3;
const DAY_MS = 24 * 60 * 60 * 1000;

const REDIS: RedisHealth = {
  primary: true,
  evictionPolicy: 'noeviction',
  maxMemoryBytes: 4 * GIB,
  append: 'always',
  appendWrites: true,
  replicas: 1,
};
const NODE: NodeHealth = {
  name: '10.0.0.1:6379',
  product: 'redis 7.0.15',
  versionServes: true,
  redis: REDIS,
  usedBytes: GIB,
  freeBytes: 3 * GIB,
  freeDiskBytes: undefined,
  clockAheadMs: 3,
};
const OUTBOX = { entries: 0, oldestMs: 0, poison: 0 };
const SOUND: StoreHealth = {
  description: 'redis 7.0.15 at 10.0.0.1:6379',
  nodes: [NODE],
  cluster: { ok: true, slotsServed: 16_384 },
  deployment: { partitions: 64, owned: 64, owners: 2, outbox: OUTBOX },
};

/** Levels by check; `grownBytes` in a day. */
function levels(second: StoreHealth, grownBytes = 0): Record<string, Level> {
  const first = { ...second, nodes: second.nodes.map((node) => ({ ...node, usedBytes: node.usedBytes - grownBytes })) };
  return Object.fromEntries(diagnose({ first, second, overMs: DAY_MS }).map(({ check, level }) => [check, level]));
}
const withNode = (more: Partial<NodeHealth>): StoreHealth => ({ ...SOUND, nodes: [{ ...NODE, ...more }] });
const withRedis = (more: Partial<RedisHealth>): StoreHealth => withNode({ redis: { ...REDIS, ...more } });
const withDeployment = (more: Partial<NonNullable<StoreHealth['deployment']>>): StoreHealth => ({
  ...SOUND,
  deployment: { partitions: 64, owned: 64, owners: 2, outbox: OUTBOX, ...more },
});

describe('a diagnosis', () => {
  it('of a sound store has nothing to do, and says what it cannot know', () => {
    const findings = diagnose({ first: SOUND, second: SOUND, overMs: DAY_MS });
    expect(findings.filter(({ level }) => level !== 'ok').map(({ check, level }) => [check, level])).toEqual([
      ['disk', 'unknown'],
      ['days left', 'unknown'],
    ]);
  });

  it.each<[check: string, level: Level, health: StoreHealth]>([
    ['version', 'wrong', withNode({ versionServes: false })],
    ['role', 'wrong', withRedis({ primary: false })],
    ['eviction', 'wrong', withRedis({ evictionPolicy: 'allkeys-lru' })],
    ['eviction', 'warning', withRedis({ evictionPolicy: 'allkeys-lru', maxMemoryBytes: 0 })],
    ['append-only file', 'wrong', withRedis({ append: 'off' })],
    ['append-only file', 'wrong', withRedis({ append: 'no' })],
    ['append-only file', 'wrong', withRedis({ appendWrites: false })],
    ['append-only file', 'ok', withRedis({ append: 'everysec' })],
    ['append-only file', 'unknown', withRedis({ append: undefined })],
    ['replicas', 'warning', withRedis({ replicas: 0 })],
    ['clock', 'ok', withNode({ clockAheadMs: -DOCTOR_CLOCK_SKEW_MS_MAX })],
    ['clock', 'warning', withNode({ clockAheadMs: -DOCTOR_CLOCK_SKEW_MS_MAX - 1 })],
    ['memory', 'ok', withNode({ usedBytes: 9 * GIB, freeBytes: GIB })],
    ['memory', 'warning', withNode({ usedBytes: 9 * GIB, freeBytes: GIB - 10 })],
    ['memory', 'unknown', withNode({ freeBytes: undefined })],
    ['disk', 'ok', withNode({ freeDiskBytes: GIB })],
    ['slots', 'wrong', { ...SOUND, cluster: { ok: true, slotsServed: 16_383 } }],
    ['slots', 'wrong', { ...SOUND, cluster: { ok: false, slotsServed: 16_384 } }],
    ['deployment', 'warning', { ...SOUND, deployment: undefined }],
    ['partitions', 'warning', withDeployment({ owned: 63 })],
    ['partitions', 'ok', withDeployment({ owned: undefined, owners: 1 })],
    ['partitions', 'warning', withDeployment({ owned: undefined, owners: 0 })],
    ['delivery', 'ok', withDeployment({ outbox: { entries: 9, oldestMs: DOCTOR_LAG_MS_MAX, poison: 0 } })],
    ['delivery', 'warning', withDeployment({ outbox: { entries: 9, oldestMs: DOCTOR_LAG_MS_MAX + 1, poison: 0 } })],
    ['set aside', 'warning', withDeployment({ outbox: { ...OUTBOX, poison: 1 } })],
  ])('%s: %s', (check, level, health) => {
    expect(levels(health)[check]).toBe(level);
  });

  it('tells the days left from what grew between its looks', () => {
    const perDay = (3 * GIB) / DOCTOR_DAYS_LEFT_MIN;
    expect(levels(SOUND, Math.floor(perDay))['days left']).toBe('ok');
    expect(levels(SOUND, Math.ceil(perDay * 1.01))['days left']).toBe('warning');
    expect(levels(SOUND, -GIB)['days left']).toBe('unknown');
    expect(diagnose({ first: withNode({ usedBytes: 0 }), second: SOUND, overMs: DAY_MS }).map(({ found }) => found)).toContain(
      '3, at the 1024 MiB that it grew in 86400 s',
    );
  });

  it('has something to do wherever something is wrong', () => {
    for (const health of [withRedis({ primary: false, append: 'off', replicas: 0 }), withDeployment({ owned: 0 })]) {
      for (const { level, todo, check } of diagnose({ first: health, second: health, overMs: 0 })) {
        if (level === 'wrong' || level === 'warning') expect(todo, check).not.toBe('');
      }
    }
  });
});

describe('qim doctor on a folder', () => {
  it('beside a server of this process: served, nothing waits, exit code 0', async () => {
    const data = await temporaryFolder();
    const store = await openStore({ store: 'embedded', data }, { as: 'server' });
    onTestFinished(() => store.close());
    const { code, out } = await qim(['doctor', '--data', data, '--over', '0ms']);
    expect(out.join('\n')).toContain('1, followed by the server that has the folder');
    expect(out.join('\n')).toContain('nothing waits');
    expect(code).toBe(0);
  });

  it('that nobody serves: a warning, exit code 1, and the folder is as it was', async () => {
    const data = await temporaryFolder();
    await (await openStore({ store: 'embedded', data }, { as: 'server' })).close();
    const { code, out } = await qim(['doctor', '--data', data, '--over', '0ms', '--json']);
    const findings = out.map((line) => JSON.parse(line) as { check: string; level: Level; todo: string });
    expect(findings.find(({ check }) => check === 'partitions')).toMatchObject({
      level: 'warning',
      todo: expect.stringContaining('start'),
    });
    expect(code).toBe(1);
    await rm(join(data, 'server.mdb'));
    expect((await qim(['doctor', '--data', data, '--over', '0ms'])).code).toBe(1);
  });

  it('that is not there: unreachable, exit code 1; called wrongly: 2', async () => {
    const data = join(await temporaryFolder(), 'none');
    const { code, out } = await qim(['doctor', '--data', data]);
    expect(out.join('\n')).toMatch(/^WRONG {3}reachable .*there is no data folder.*\n +-> start the store/);
    expect(code).toBe(1);
    for (const over of ['5', 'soon', `${DOCTOR_WINDOW_MS_MAX + 1}ms`]) expect((await qim(['doctor', '--over', over])).code).toBe(2);
  });
});
