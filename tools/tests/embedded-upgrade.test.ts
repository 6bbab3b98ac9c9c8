/** An embedded store that an earlier version wrote is this version's as it stands; one of a newer version is refused. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EMBEDDED_MAP_BYTES_DEFAULT } from '@qim/proto';
import { openStore, type StorePlace } from '@qim/server';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { enterFolder } from '../../packages/store/src/embedded/folders.js';
import { FORMAT_KEY } from '../../packages/store/src/embedded/keys.js';
import { goldenOf, unpack, versions } from '../upgrade/fixtures.js';
import { goesOn, readAgain, verified } from '../upgrade/upgraded.js';

describe.each(await versions('embedded'))('written by %s', (version) => {
  let place: StorePlace & { readonly data: string };
  beforeEach(async () => {
    const data = await mkdtemp(join(tmpdir(), 'qim-upgrade-'));
    onTestFinished(() => rm(data, { recursive: true, force: true }));
    await unpack(version, 'embedded', data);
    place = { store: 'embedded', data };
  });

  test('says what it said then, of every user', async () => {
    expect(await readAgain(place)).toEqual(await goldenOf(version, 'embedded'));
  });

  test('is found sound by fsck', async () => {
    expect(await verified(place)).toEqual({ conversations: 4, found: [] });
  });

  test('is gone on with by a whole server', async () => {
    expect(await goesOn({ data: place.data })).toMatchObject({
      sent: { conversationSeq: '14' },
      listed: { unreadCount: 5, unreadExact: true },
    });
    expect(await verified(place)).toEqual({ conversations: 4, found: [] });
  });

  test('and then by a newer version, which changed its form, is refused as it stands', async () => {
    const { environment, leave } = await enterFolder(place.data, true, EMBEDDED_MAP_BYTES_DEFAULT);
    await environment.write('test', () => ({ result: undefined, writes: [{ key: FORMAT_KEY, value: Buffer.from('2 1') }] }));
    await leave();
    await expect(openStore(place, { as: 'server' })).rejects.toMatchObject({
      code: 'StoreUnusable',
      message: expect.stringContaining('this qim reads format 1 of the embedded store; the folder has the format entry "2 1"'),
    });
  });
});

test('there is a store of every version that was released', async () => {
  expect(await versions('embedded')).toEqual(['0.1.0']);
});
