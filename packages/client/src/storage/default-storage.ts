import { indexedDbStorage } from './indexeddb-storage.js';
import { memoryStorage } from './memory-storage.js';
import type { ClientStorage } from './storage.js';

/** IndexedDB where there is one; elsewhere what is kept ends with the process. */
export function defaultStorage(): ClientStorage {
  const factory = globalThis.indexedDB as IDBFactory | undefined;
  return factory === undefined ? memoryStorage() : indexedDbStorage();
}
