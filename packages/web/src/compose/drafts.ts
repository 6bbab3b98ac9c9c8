/** What a user has half written, by conversation; kept in the browser until it is sent, emptied, or the user logs out. */
import { PAGE_DRAFTS_MAX } from '@qim/proto';

export class Drafts {
  readonly #storage: Storage;
  readonly #key: string;
  readonly #listeners = new Set<() => void>();
  /** Conversation -> text, never ''; the one touched last at the end. */
  #texts: ReadonlyMap<string, string>;

  constructor(storage: Storage, userId: string) {
    this.#storage = storage;
    this.#key = `qim-drafts:${userId}`;
    this.#texts = new Map(readEntries(storage.getItem(this.#key)));
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly snapshot = (): ReadonlyMap<string, string> => this.#texts;

  set(conversationId: string, text: string): void {
    if ((this.#texts.get(conversationId) ?? '') === text) return;
    const next = new Map(this.#texts);
    next.delete(conversationId);
    if (text !== '') next.set(conversationId, text);
    if (next.size > PAGE_DRAFTS_MAX) next.delete(next.keys().next().value ?? '');
    this.#texts = next;
    this.#keep();
    for (const listener of this.#listeners) listener();
  }

  /** Forgets all of them. */
  clear(): void {
    this.#texts = new Map();
    this.#storage.removeItem(this.#key);
  }

  #keep(): void {
    try {
      this.#storage.setItem(this.#key, JSON.stringify([...this.#texts]));
    } catch {
      // Full, or forbidden: what is written lives as long as the page.
    }
  }
}

function readEntries(text: string | null): [string, string][] {
  try {
    const entries: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(entries) ? entries.filter(isEntry) : [];
  } catch {
    return [];
  }
}

function isEntry(entry: unknown): entry is [string, string] {
  return Array.isArray(entry) && entry.length === 2 && typeof entry[0] === 'string' && typeof entry[1] === 'string';
}
