/** What senders were told, before and after a failure: no (epoch, sequence) may name two messages. */
import type { CommitOutcome, CommitRequest } from '../src/message/message-store.js';
import type { Store } from '../src/store.js';

export interface Sent {
  readonly request: CommitRequest;
  readonly outcome: CommitOutcome;
}

export class Senders {
  /** In the order of their acknowledgements. */
  readonly acknowledged: Sent[] = [];
  /** By conversation, epoch and sequence: the message that was told to have it. */
  readonly #named = new Map<string, string>();
  readonly twice: string[] = [];
  #told = (): void => {};

  /** Resolves when so many are acknowledged. One at a time waits. */
  async until(count: number): Promise<void> {
    while (this.acknowledged.length < count) {
      await new Promise<void>((resolve) => {
        this.#told = resolve;
      });
    }
  }

  /** Sends until the signal; what is not acknowledged is not tried again. */
  async send(store: Store, next: () => CommitRequest, signal: AbortSignal): Promise<void> {
    // A refusal may come without any wait; a sender who is refused leaves the others their turn.
    while (!signal.aborted)
      await this.commit(store, next()).then(
        () => {},
        () => new Promise<void>((resolve) => setImmediate(resolve)),
      );
  }

  /** @throws as MessageStore.commit */
  async commit(store: Store, request: CommitRequest): Promise<CommitOutcome> {
    const outcome = await store.messages.commit(request);
    this.acknowledged.push({ request, outcome });
    this.#told();
    const { conversationSeq, messageId, message } = outcome;
    // The epoch of a duplicate is today's, and its sequence that of its own day.
    if (message === undefined || outcome.duplicate) return outcome;
    const name = `${request.conversationId} epoch ${message.epoch} sequence ${conversationSeq}`;
    const other = this.#named.get(name);
    if (other !== undefined && other !== messageId) this.twice.push(name);
    this.#named.set(name, messageId);
    return outcome;
  }
}
