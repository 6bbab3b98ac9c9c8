/** The one place that names a backend. */
import { existsSync } from 'node:fs';
import { type AnyQimError, isQimError } from '@qim/proto';
import type { Store, StoreOptions } from '@qim/store';
import type { ArchiveSink, ArchiveSource } from '@qim/store/archive';
import type { HealthReader } from '@qim/store/health';
import type { Maintenance, StoreScanner } from '@qim/store/verify';
import { StartError } from './errors.js';
import { readStorePassword } from './secrets.js';
import type { Config } from './settings.js';

/** What a command reads of the settings to open the store that a server has. */
export const STORE_SETTINGS = ['store', 'storePasswordFile', 'data'] as const;

/** As `--store`, `--store-password-file` and `--data` say. */
export type StorePlace = Pick<Config, 'store' | 'data'> & Partial<Pick<Config, 'storePasswordFile'>>;

export interface OpenOptions extends StoreOptions {
  /**
   * server: the embedded store's folder is held against any other server. beside: one that serves it may go on; for
   * commands. Redis makes no difference between them.
   */
  readonly as: 'server' | 'beside';
  /** A store whose acknowledgements survive nothing is refused before anything is written to it. */
  readonly requireDurable?: boolean;
  /** Redis: replicas that must have a write before it is acknowledged; default 0. */
  readonly ackReplicas?: number;
}

export type OpenStore = (place: StorePlace, options: OpenOptions) => Promise<Store>;

/** @throws StartError StoreUnusable, with a message that holds no password; BadSecret */
export const openStore: OpenStore = async ({ store, data, storePasswordFile }, { as, ...options }) => {
  const password = await passwordFrom(storePasswordFile);
  if (as === 'beside') refuseMissingFolder({ store, data });
  return orUnusable({ store, data }, async () => {
    // Each backend is a library of its own: only the one that is asked for is loaded.
    if (store === 'embedded') {
      const { openEmbeddedStore } = await import('@qim/store/embedded');
      return await openEmbeddedStore(data, { ...options, exclusive: as === 'server' });
    }
    const { openRedisStore } = await import('@qim/store/redis');
    return await openRedisStore(store.href, { ...options, ...password });
  });
};

/** A store opened for `qim fsck`. */
export interface OpenMaintenance extends Maintenance {
  readonly scanner: StoreScanner;
  /** For people. */
  readonly description: string;
  close(): Promise<void>;
}

/**
 * Opens what is there; nothing is made. `repair`: the embedded store's folder is held against any server, because its
 * repair goes by no locks of single conversations; on Redis servers may go on.
 *
 * @throws StartError StoreUnusable
 */
export async function openMaintenance(place: StorePlace, open: OpenStore, repair: boolean): Promise<OpenMaintenance> {
  refuseMissingFolder(place);
  const exclusive = place.store === 'embedded' && repair;
  const raw = place.store === 'embedded' ? undefined : await openRaw(place);
  try {
    const store = await open(place, { as: exclusive ? 'server' : 'beside' });
    // The embedded store's own is opened second: it shares the environment that the lock stands for.
    return joined(raw ?? (await openRaw(place)), store, exclusive);
  } catch (error) {
    await raw?.close();
    throw error;
  }
}

type RawMaintenance = Pick<OpenMaintenance, 'scanner' | 'mender' | 'close'>;

async function openRaw(place: StorePlace): Promise<RawMaintenance> {
  const { store, data } = place;
  const password = await passwordFrom(place.storePasswordFile);
  return orUnusable(place, async () => {
    if (store === 'embedded') return (await import('@qim/store/embedded')).openEmbeddedMaintenance(data, { alone: true });
    return (await import('@qim/store/redis')).openRedisMaintenance(store.href, password);
  });
}

/**
 * A copy of the embedded store, beside a server that has it.
 *
 * @throws StartError StoreUnusable, also for a Redis, which makes its own copies
 */
export async function backUp({ store, data }: StorePlace, to: string): Promise<void> {
  if (store !== 'embedded')
    throw new StartError('StoreUnusable', 'a Redis makes its own copies: BGSAVE, or its append-only files (docs/operations.md)');
  refuseMissingFolder({ store, data });
  await orUnusable({ store, data }, async () => (await import('@qim/store/embedded')).backUpEmbedded(data, to));
}

/** A store opened for `qim export`, which no server may have. @throws StartError StoreUnusable, BadSecret; ArchiveError */
export async function openArchiveSource(place: StorePlace): Promise<ArchiveSource> {
  const { store, data } = place;
  const password = await passwordFrom(place.storePasswordFile);
  refuseMissingFolder(place);
  return orUnusable(place, async () => {
    if (store === 'embedded') return (await import('@qim/store/embedded')).openEmbeddedArchiveSource(data);
    return (await import('@qim/store/redis')).openRedisArchiveSource(store.href, password);
  });
}

/** A store opened for `qim import`, and made when it is not there. @throws StartError StoreUnusable, BadSecret; ArchiveError */
export async function openArchiveSink(place: StorePlace): Promise<ArchiveSink> {
  const { store, data } = place;
  const password = await passwordFrom(place.storePasswordFile);
  return orUnusable(place, async () => {
    if (store === 'embedded') return (await import('@qim/store/embedded')).openEmbeddedArchiveSink(data);
    const { openRedisArchiveSink, openRedisStore } = await import('@qim/store/redis');
    // Opening it as a store makes the deployment.
    await (await openRedisStore(store.href, { ...password, importing: true })).close();
    return openRedisArchiveSink(store.href, password);
  });
}

/** A store opened for `qim doctor`, also one that a server would refuse. @throws StartError StoreUnusable, BadSecret */
export async function openHealth(place: StorePlace, now: () => number): Promise<HealthReader> {
  const { store, data } = place;
  const password = await passwordFrom(place.storePasswordFile);
  refuseMissingFolder(place);
  return orUnusable(place, async () => {
    if (store === 'embedded') {
      const { embeddedHealth, openEmbeddedStore } = await import('@qim/store/embedded');
      return embeddedHealth(await openEmbeddedStore(data, { exclusive: false, now }), data);
    }
    return (await import('@qim/store/redis')).openRedisHealth(store.href, { ...password, now });
  });
}

async function passwordFrom(file: string | undefined): Promise<{ readonly password?: string }> {
  return file === undefined ? {} : { password: await readStorePassword(file) };
}

function joined(raw: RawMaintenance, store: Store, exclusive: boolean): OpenMaintenance {
  return {
    messages: store.messages,
    description: store.description,
    exclusive,
    scanner: raw.scanner,
    mender: raw.mender,
    close: async () => {
      await raw.close();
      await store.close();
    },
  };
}

function refuseMissingFolder({ store, data }: StorePlace): void {
  if (store === 'embedded' && !existsSync(data)) throw new StartError('StoreUnusable', `there is no data folder ${data}`);
}

async function orUnusable<T>({ store, data }: StorePlace, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!isQimError(error)) throw error;
    throw new StartError('StoreUnusable', `cannot open the store ${store === 'embedded' ? data : store.host}: ${whyOf(error)}`, {
      cause: error,
    });
  }
}

/** The cause says what the system said, such as ECONNREFUSED; neither backend puts a password into it. */
function whyOf(error: AnyQimError): string {
  if (error.code !== 'StoreUnavailable') return error.message;
  const { what } = error.detail;
  return error.cause instanceof Error && error.cause.message !== '' ? `${what}: ${error.cause.message}` : what;
}
