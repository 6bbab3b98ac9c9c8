/**
 * How far the others have read, as the server tells while this page is open. There is no call that asks for it, so of earlier
 * readings nothing is known.
 */
import type { Client } from '@qim/client';
import { PAGE_RECEIPTS_MAX } from '@qim/proto';

/** User -> the sequence up to which that user has read. */
export type ReadBy = ReadonlyMap<string, number>;

const NOBODY: ReadBy = new Map();

export class Receipts {
  readonly #listeners = new Set<() => void>();
  readonly #marks = new Map<string, ReadBy>();

  constructor(client: Pick<Client, 'onEvent'>, userId: string) {
    client.onEvent((event) => {
      if (event.kind === 'readAdvanced' && event.userId !== userId)
        this.#heard(event.conversationId, event.userId, event.readConversationSeq);
    });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The same map until it changes. */
  of(conversationId: string): ReadBy {
    return this.#marks.get(conversationId) ?? NOBODY;
  }

  #heard(conversationId: string, userId: string, seq: number): void {
    const before = this.of(conversationId);
    if ((before.get(userId) ?? 0) >= seq) return;
    this.#marks.delete(conversationId);
    this.#marks.set(conversationId, new Map(before).set(userId, seq));
    if (this.#marks.size > PAGE_RECEIPTS_MAX) this.#marks.delete(this.#marks.keys().next().value ?? '');
    for (const listener of this.#listeners) listener();
  }
}
