/**
 * Which span wrote a record, for as long as its delivery may follow: an outbox entry has no room for it. Of this process
 * alone: what another one delivers has a trace of its own, with the record's place.
 */
import { type ConversationId, type TenantId, TRACED_RECORDS_MAX, type TracedPlace } from '@qim/proto';

interface Conversation {
  readonly tenantId: TenantId;
  readonly conversationId: ConversationId;
}

export class TraceMemory<Context> {
  /** By the place of the record; the oldest makes room. */
  readonly #wrote = new Map<string, Context>();
  /** By conversation: those who are writing, in their order. */
  readonly #writers = new Map<string, Context[]>();

  /** Calls `write`, which answers with the sequence that it wrote. */
  async writing<Result extends { readonly conversationSeq: TracedPlace['conversationSeq'] }>(
    conversation: Conversation,
    context: Context,
    write: () => Promise<Result>,
  ): Promise<Result> {
    const key = keyOf(conversation);
    const writing = this.#writers.get(key) ?? [];
    this.#writers.set(key, writing);
    writing.push(context);
    try {
      const result = await write();
      this.wrote({ ...conversation, conversationSeq: result.conversationSeq }, context);
      return result;
    } finally {
      writing.splice(writing.indexOf(context), 1);
      if (writing.length === 0) this.#writers.delete(key);
    }
  }

  wrote(place: TracedPlace, context: Context): void {
    const key = `${keyOf(place)} ${place.conversationSeq}`;
    this.#wrote.delete(key);
    this.#wrote.set(key, context);
    const [oldest] = this.#wrote.keys();
    if (this.#wrote.size > TRACED_RECORDS_MAX && oldest !== undefined) this.#wrote.delete(oldest);
  }

  /**
   * Who wrote the record, or changed it last. A delivery may be faster than the answer to who writes: records of a
   * conversation are delivered in the order in which they are written, so it is then the first of those.
   */
  writerOf(place: TracedPlace): Context | undefined {
    const key = keyOf(place);
    return this.#wrote.get(`${key} ${place.conversationSeq}`) ?? this.#writers.get(key)?.[0];
  }
}

function keyOf({ tenantId, conversationId }: Conversation): string {
  return `${tenantId} ${conversationId}`;
}
