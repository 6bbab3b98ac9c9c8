/** Area memory: what a message takes in Redis and in the embedded store, by the kind of key. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from 'redis';
import { fill } from './data.js';
import type { Results } from './result.js';
import type { Scale } from './scale.js';
import { embeddedStore, redisServer, redisStore, temporaryFolder, withCleanup } from './stores.js';

const PER_CONVERSATION = 1_000;
const SCAN_COUNT = 1_000;

export async function memoryArea(results: Results, { memoryMessages }: Scale): Promise<void> {
  const each = Math.min(PER_CONVERSATION, memoryMessages);
  await withCleanup(async (cleanup) => {
    const redis = await redisServer(cleanup);
    const store = await redisStore(cleanup, redis.url);
    const client = createClient({ url: redis.url, RESP: 2 });
    await client.connect();
    cleanup.add(() => client.close());
    const used = async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]);
    const before = await used();
    await fill(store, memoryMessages / each, each);
    results.value('memory', 'Redis, one message of about 300 bytes', 'all', 'bytes', ((await used()) - before) / memoryMessages);
    const kinds = new Map<string, number>();
    for await (const keys of client.scanIterator({ COUNT: SCAN_COUNT })) {
      const sizes = await Promise.all(keys.map((key) => client.memoryUsage(key, { SAMPLES: 0 })));
      for (const [i, key] of keys.entries()) {
        const kind = key.split(':')[0] ?? '';
        kinds.set(kind, (kinds.get(kind) ?? 0) + (sizes[i] ?? 0));
      }
    }
    for (const [kind, bytes] of [...kinds].sort(([, a], [, b]) => b - a)) {
      if (bytes / memoryMessages >= 0.5)
        results.value('memory', 'Redis, one message of about 300 bytes', kind, 'bytes', bytes / memoryMessages);
    }
  });
  await withCleanup(async (cleanup) => {
    const folder = await temporaryFolder(cleanup);
    const store = await embeddedStore(cleanup, folder);
    const before = await folderBytes(folder);
    await fill(store, memoryMessages / each, each);
    const bytes = ((await folderBytes(folder)) - before) / memoryMessages;
    results.value('memory', 'embedded, one message of about 300 bytes', 'all, on disk', 'bytes', bytes);
  });
}

/** What the disk holds: a data file may be longer than that. */
async function folderBytes(folder: string): Promise<number> {
  const names = await readdir(folder);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).blocks * 512));
  return sizes.reduce((sum, size) => sum + size, 0);
}
