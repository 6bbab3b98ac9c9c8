/** The one place that names a backend. */
import { isQimError } from '@qim/proto';
import type { Store, StoreOptions } from '@qim/store';
import { StartError } from './errors.js';
import type { Config } from './settings.js';

/** As `--store` and `--data` say. */
export type StorePlace = Pick<Config, 'store' | 'data'>;

export interface OpenOptions extends StoreOptions {
  /**
   * server: the embedded store's folder is held against any other server. beside: one that serves it may go on; for
   * commands. Redis makes no difference between them.
   */
  readonly as: 'server' | 'beside';
  /** A store whose acknowledgements survive nothing is refused before anything is written to it. */
  readonly requireDurable?: boolean;
}

export type OpenStore = (place: StorePlace, options: OpenOptions) => Promise<Store>;

/** @throws StartError StoreUnusable, with a message that holds no password */
export const openStore: OpenStore = async ({ store, data }, { as, ...options }) => {
  try {
    // Each backend is a library of its own: only the one that is asked for is loaded.
    if (store === 'embedded') {
      const { openEmbeddedStore } = await import('@qim/store/embedded');
      return await openEmbeddedStore(data, { ...options, exclusive: as === 'server' });
    }
    const { openRedisStore } = await import('@qim/store/redis');
    return await openRedisStore(store.href, options);
  } catch (error) {
    if (!isQimError(error)) throw error;
    const what = error.code === 'StoreUnavailable' ? error.detail.what : error.message;
    throw new StartError('StoreUnusable', `cannot open the store ${store === 'embedded' ? data : store.host}: ${what}`, { cause: error });
  }
};
