/** The stores of a run: its own, on free loopback ports and in temporary folders, gone when it ends. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '@qim/server';
import type { Store, StoreObserver } from '@qim/store';
import { type RedisServer, type RedisServerOptions, startRedis } from '@qim/store/testing';

/** Ends what was started, the last first, also when something failed. */
export class Cleanup {
  readonly #ends: (() => Promise<unknown>)[] = [];

  add(end: () => Promise<unknown>): void {
    this.#ends.push(end);
  }

  async run(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end();
  }
}

export async function withCleanup<T>(work: (cleanup: Cleanup) => Promise<T>): Promise<T> {
  const cleanup = new Cleanup();
  try {
    return await work(cleanup);
  } finally {
    await cleanup.run();
  }
}

export async function temporaryFolder(cleanup: Cleanup): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'qim-bench-'));
  cleanup.add(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function redisServer(cleanup: Cleanup, appendonly: RedisServerOptions['appendonly'] = 'no'): Promise<RedisServer> {
  const server = await startRedis({ appendonly });
  cleanup.add(() => server.stop());
  return server;
}

export interface RedisStoreOptions {
  readonly observer?: StoreObserver;
  readonly fastPaths?: boolean;
}

export async function redisStore(cleanup: Cleanup, url: string, options: RedisStoreOptions = {}): Promise<Store> {
  const store = await openStore({ store: new URL(url), data: '' }, { as: 'server', ...options });
  cleanup.add(() => store.close());
  return store;
}

export async function embeddedStore(cleanup: Cleanup, folder: string): Promise<Store> {
  const store = await openStore({ store: 'embedded', data: folder }, { as: 'server' });
  cleanup.add(() => store.close());
  return store;
}
