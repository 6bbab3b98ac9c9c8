/**
 * Commits that run right after each other in one transaction: facts, members and the outbox's counter are read once and
 * written once, at its end. What it knows was read or written in that transaction, so it is what stands there; the next
 * transaction reads anew.
 */
import type { KnownConversation } from './conversation-reads.js';
import type { Series, Snapshot, Write } from './environment.js';
import { type ConversationKeys, outboxCounter } from './keys.js';
import { lastEntryNumber } from './outbox.js';
import { counterValue, encodeFacts } from './values.js';

interface Committed extends KnownConversation {
  readonly keys: ConversationKeys;
}

export class CommitSeries implements Series {
  readonly partition: number;
  /** By place. */
  readonly #conversations = new Map<string, Committed>();
  /** Of the outbox; undefined: not read yet, or no commit wrote one. */
  #lastEntry: number | undefined;

  constructor(partition: number) {
    this.partition = partition;
  }

  /** Undefined: no commit of this series wrote to it. Its index ends with the last sequence of these facts. */
  conversation({ place }: ConversationKeys): KnownConversation | undefined {
    return this.#conversations.get(place);
  }

  lastEntry(snapshot: Snapshot): number {
    return this.#lastEntry ?? lastEntryNumber(snapshot, this.partition);
  }

  /** To be told when it stands in the transaction. */
  committed(conversation: Committed, entryNumber: number): void {
    this.#conversations.set(conversation.keys.place, conversation);
    this.#lastEntry = entryNumber;
  }

  owed(): Write[] {
    const writes: Write[] = [];
    for (const { keys, facts } of this.#conversations.values()) {
      if (facts !== undefined) writes.push({ key: keys.facts, value: encodeFacts(facts) });
    }
    if (this.#lastEntry !== undefined) writes.push({ key: outboxCounter(this.partition), value: counterValue(this.#lastEntry) });
    return writes;
  }

  forget(): void {
    this.#conversations.clear();
    this.#lastEntry = undefined;
  }
}
