/**
 * The embedded store: one folder, one server, nothing to install. An acknowledged commit has been flushed to the disk.
 * The folder holds `messages.mdb` (docs/storage.md, LMDB keys) and `server.mdb` (lock.ts).
 */
import { EMBEDDED_MAP_BYTES_DEFAULT } from '@qim/proto';
import { LocalBus } from '../bus/local-bus.js';
import { systemNow } from '../clock.js';
import { localRates } from '../rates/local-rates.js';
import type { Store, StoreOptions } from '../store.js';
import { EmbeddedDirectory } from './directory.js';
import type { FaultHook } from './environment.js';
import { Expiry } from './expiry.js';
import { enterFolder, type FolderUse } from './folders.js';
import { checkFormat } from './format.js';
import { EmbeddedHooks } from './hooks.js';
import { EmbeddedMessageStore } from './message-store.js';
import { EmbeddedOutbox } from './outbox.js';
import { EmbeddedUsers } from './users.js';

export { openEmbeddedArchiveSink } from './archive-sink.js';
export { openEmbeddedArchiveSource } from './archive-source.js';
export { backUpEmbedded } from './backup.js';
export type { FaultHook } from './environment.js';
export { embeddedHealth } from './health.js';
export { openEmbeddedMaintenance } from './maintenance.js';

export interface EmbeddedStoreOptions extends StoreOptions {
  /** False: beside a running server, for verification and tests; takes no lock, and never an outbox lease. */
  readonly exclusive?: boolean;
  /** Address space mapped at first; LMDB doubles it when the file outgrows it. */
  readonly mapBytes?: number;
  /** Tests make writes fail here. */
  readonly faults?: FaultHook;
  /** For tests: called before each single read of what a call of the message store reads. */
  readonly beforeRead?: () => void;
}

/**
 * Creates the folder (mode 0700) when it is not there.
 *
 * @throws StoreUnavailable when another server has the folder, it cannot be opened, or it holds another format
 */
export async function openEmbeddedStore(folder: string, options: EmbeddedStoreOptions = {}): Promise<Store> {
  const use = await enterFolder(folder, options.exclusive ?? true, options.mapBytes ?? EMBEDDED_MAP_BYTES_DEFAULT);
  try {
    return storeOn(use, await checkFormat(use.environment), options);
  } catch (error) {
    await use.leave();
    throw error;
  }
}

function storeOn({ environment, path, leave }: FolderUse, partitionCount: number, options: EmbeddedStoreOptions): Store {
  const { faults, observer = {}, now = systemNow, exclusive = true, beforeRead } = options;
  const outbox = new EmbeddedOutbox({ environment, partitionCount, now, faults, mayOwn: exclusive });
  const untell = environment.onFlush(() => observer.roundTrip?.());
  let left: Promise<void> | undefined;
  return {
    messages: new EmbeddedMessageStore({
      environment,
      expiry: new Expiry(),
      now,
      observer,
      faults,
      beforeRead,
      committed: () => outbox.wake(),
    }),
    directory: new EmbeddedDirectory({ environment, now, faults }),
    users: new EmbeddedUsers({ environment, faults }),
    rates: localRates(),
    outbox,
    hooks: new EmbeddedHooks({ environment, outbox, now, faults }),
    bus: new LocalBus(),
    ackDurability: 'synced',
    description: `embedded store in ${path}`,
    ping: async () => environment.read(() => {}),
    close() {
      outbox.close();
      untell();
      left ??= leave();
      return left;
    },
  };
}
