/**
 * `npm run upgrade-fixture`: once for each release, a small store of each kind as this version writes it, into tools/upgrade/stores.
 * Later versions open them in their tests. What is there of this version is replaced: only while it is not released.
 */
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { openStore } from '@qim/server';
import { startRedis } from '@qim/store/testing';
import { type Filled, fillStore } from './upgrade/fill.js';
import { type Kind, pack } from './upgrade/fixtures.js';
import { readingOf } from './upgrade/reading.js';

const { version } = JSON.parse(await readFile(new URL('../packages/cli/package.json', import.meta.url), 'utf8')) as { version: string };

async function write(kind: Kind, store: string, folderOf: (filled: Filled) => string, save: () => void): Promise<void> {
  const filled = await fillStore(store);
  try {
    const place = { store: store === 'embedded' ? store : { href: store, host: store }, data: filled.data } as const;
    const opened = await openStore(place, { as: 'beside' });
    const reading = await readingOf(opened);
    await opened.close();
    save();
    console.log(`${version} ${kind}: ${await pack(version, kind, folderOf(filled), reading)} bytes`);
  } finally {
    await filled.end();
  }
}

await write(
  'embedded',
  'embedded',
  ({ data }) => data,
  () => {},
);
const redis = await startRedis();
try {
  await write(
    'redis',
    redis.url,
    () => redis.folder,
    () => execFileSync('redis-cli', ['-p', String(redis.port), 'SAVE']),
  );
} finally {
  await redis.stop();
}
