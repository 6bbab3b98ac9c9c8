/** Kept for as long as this object is: what Node uses by default. One object may serve several clients, one after another. */
import type { AccountStorage, ClientStorage } from './storage.js';

export function memoryStorage(): ClientStorage {
  const accounts = new Map<string, Map<string, unknown>>();
  return {
    async open(name): Promise<AccountStorage> {
      const held = accounts.get(name) ?? new Map<string, unknown>();
      accounts.set(name, held);
      return overMap(held);
    },
  };
}

function overMap(held: Map<string, unknown>): AccountStorage {
  return {
    get: async (key) => structuredClone(held.get(key)),
    list: async (prefix) => {
      const found = [...held].filter(([key]) => key.startsWith(prefix)).sort(([a], [b]) => (a < b ? -1 : 1));
      return structuredClone(found);
    },
    write: async (changes) => {
      for (const [key, value] of structuredClone(changes)) {
        if (value === undefined) held.delete(key);
        else held.set(key, value);
      }
    },
    destroy: async () => held.clear(),
    close: () => {},
  };
}
