/** Kept by the browser: one database for each account, one store in it. */
import type { AccountStorage, ClientStorage } from './storage.js';
import { type OpenTabs, openTabs } from './tabs.js';

export interface IndexedDbOptions {
  /** Absent: the global one. */
  readonly indexedDB?: IDBFactory;
  /** Undefined: each tab is for itself, and two may send the same message under one id. Absent: the global one. */
  readonly locks?: Pick<LockManager, 'request' | 'query'> | undefined;
}

const STORE = 'kept';

/** @throws Error without IndexedDB */
export function indexedDbStorage(options: IndexedDbOptions = {}): ClientStorage {
  const factory = options.indexedDB ?? globalThis.indexedDB;
  if (factory === undefined) throw new Error('there is no IndexedDB here');
  // Absent on plain http pages.
  const locks = 'locks' in options ? options.locks : (globalThis.navigator?.locks as LockManager | undefined);
  return {
    async open(name) {
      const database = await openDatabase(factory, name);
      const tabs = locks === undefined ? undefined : await openTabsOf(name, locks);
      return accountStorage(factory, database, tabs);
    },
  };
}

function openTabsOf(name: string, locks: Pick<LockManager, 'request' | 'query'>): Promise<OpenTabs> {
  return openTabs({ name, tabId: crypto.randomUUID(), locks, channel: new BroadcastChannel(name) });
}

function openDatabase(factory: IDBFactory, name: string): Promise<IDBDatabase> {
  const request = factory.open(name, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  return answerOf(request).then((database) => {
    // Another tab removes it.
    database.onversionchange = () => database.close();
    return database;
  });
}

function accountStorage(factory: IDBFactory, database: IDBDatabase, tabs: OpenTabs | undefined): AccountStorage {
  const close = (): void => {
    tabs?.close();
    database.close();
  };
  return {
    ...(tabs !== undefined && { tabs }),
    get: async (key): Promise<unknown> => answerOf<unknown>(database.transaction(STORE).objectStore(STORE).get(key)),
    list: async (prefix) => {
      const store = database.transaction(STORE).objectStore(STORE);
      // Keys are ASCII: nothing that begins with the prefix sorts behind this.
      const range = IDBKeyRange.bound(prefix, `${prefix}\uffff`);
      const [keys, values] = await Promise.all([answerOf(store.getAllKeys(range)), answerOf(store.getAll(range))]);
      return keys.map((key, i) => [key as string, values[i] as unknown] as const);
    },
    write: async (changes) => {
      const transaction = database.transaction(STORE, 'readwrite');
      const store = transaction.objectStore(STORE);
      for (const [key, value] of changes) {
        if (value === undefined) store.delete(key);
        else store.put(value, key);
      }
      await committed(transaction);
    },
    destroy: async () => {
      const transaction = database.transaction(STORE, 'readwrite');
      transaction.objectStore(STORE).clear();
      await committed(transaction);
      close();
      await answerOf(factory.deleteDatabase(database.name));
    },
    close,
  };
}

function answerOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('IndexedDB did not answer'));
  });
}

function committed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    const failed = (): void => reject(transaction.error ?? new Error('IndexedDB kept nothing'));
    transaction.onerror = failed;
    transaction.onabort = failed;
  });
}
