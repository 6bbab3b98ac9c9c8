/** The health of a data folder, read beside the server that has it. */
import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { unavailable } from '../errors.js';
import type { HealthReader, StoreHealth } from '../health/health.js';
import type { Store } from '../store.js';
import { DATA_FILE, servedBy } from './folders.js';

/** Of a store that was opened beside the server; it is closed with the reader. */
export function embeddedHealth(store: Store, folder: string): HealthReader {
  return { look: () => look(store, folder), close: () => store.close() };
}

async function look(store: Store, folder: string): Promise<StoreHealth> {
  const [file, disk] = await Promise.all([stat(join(folder, DATA_FILE)), statfs(folder)]).catch((error: unknown) => {
    throw unavailable(`the data folder ${folder}`, error);
  });
  const freeBytes = disk.bavail * disk.bsize;
  return {
    description: store.description,
    nodes: [
      {
        name: folder,
        product: 'LMDB',
        versionServes: true,
        redis: undefined,
        usedBytes: file.size,
        freeBytes,
        freeDiskBytes: freeBytes,
        // It has no clock but the server's.
        clockAheadMs: 0,
      },
    ],
    cluster: undefined,
    deployment: {
      partitions: store.outbox.partitionCount,
      owned: undefined,
      owners: (await servedBy(folder)) === undefined ? 0 : 1,
      outbox: await store.outbox.backlog(),
    },
  };
}
