/** A store on Redis that an earlier version wrote is this version's as it stands; one of a newer version is refused. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, type StorePlace } from '@qim/server';
import { type RedisServer, rawRedis, startRedis } from '@qim/store/testing';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { goldenOf, unpack, versions } from '../upgrade/fixtures.js';
import { goesOn, readAgain, verified } from '../upgrade/upgraded.js';

describe.each(await versions('redis'))('written by %s', (version) => {
  let redis: RedisServer;
  let place: StorePlace;
  beforeEach(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'qim-upgrade-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await unpack(version, 'redis', folder);
    redis = await startRedis({ args: ['--dir', folder] });
    onTestFinished(() => redis.stop());
    place = { store: { href: redis.url, host: redis.url }, data: folder };
  });

  test('says what it said then, of every user', async () => {
    expect(await readAgain(place)).toEqual(await goldenOf(version, 'redis'));
  });

  test('is found sound by fsck', async () => {
    expect(await verified(place)).toEqual({ conversations: 4, found: [] });
  });

  test('is gone on with by a whole server', async () => {
    // Another Redis takes the writes, so that sequences are left out, and the count says that it is not exact (docs/durability.md).
    expect(await goesOn({ store: redis.url })).toMatchObject({ sent: { text: 'x' }, listed: { unreadCount: 200, unreadExact: false } });
    expect(await verified(place)).toEqual({ conversations: 4, found: [] });
  });

  test('and then by a newer version, which changed its form, is refused as it stands', async () => {
    await rawRedis(redis.port, 'HSET', 'qim:deployment', 'format', '2');
    await expect(openStore(place, { as: 'server' })).rejects.toMatchObject({
      code: 'StoreUnusable',
      message: expect.stringContaining('of format 1 or older; it is 2, written by a newer qim'),
    });
  });
});

test('there is a store of every version that was released', async () => {
  expect(await versions('redis')).toEqual(['0.1.0']);
});
