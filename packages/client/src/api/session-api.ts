/** What a user sees, and what he changes of his own view. All of it is harmless to repeat, and made again after a failure that may pass. */
import type * as wire from '@qim/proto/schema';
import { invalidArgument } from '../errors.js';
import { conversationFrom, integer, messageFrom } from '../from-wire.js';
import type { CatchUpInput, ConversationFlagsInput, ReadHistoryInput } from '../inputs.js';
import type { CatchUpPage, Conversation, ConversationPage, HistoryPage, ReadMark, Totals } from '../types.js';
import { type ServiceCalls, serviceOver } from '../wire/service.js';
import { again, type CallContext, wireInteger } from './wire-calls.js';

export class SessionApi {
  readonly #context: CallContext;
  readonly #session: ServiceCalls<'SessionService'>;

  constructor(context: CallContext) {
    this.#context = context;
    this.#session = serviceOver('SessionService', context.caller);
  }

  listConversations(pageSize: number, pageToken: string): Promise<ConversationPage> {
    return this.#again(async (timeoutMs) => {
      const answer = await this.#session.listConversations({ pageSize, pageToken }, { timeoutMs });
      const conversations = answer.conversations.map(conversationFrom);
      return { conversations, nextPageToken: answer.nextPageToken, damagedCount: answer.damagedCount };
    });
  }

  getConversation(conversationId: string): Promise<Conversation> {
    return this.#again(async (timeoutMs) => {
      const answer = await this.#session.getConversation({ conversationId }, { timeoutMs });
      return conversationFrom(answer.conversation);
    });
  }

  async readHistory({ conversationId, afterSeq, beforeSeq, limit }: ReadHistoryInput): Promise<HistoryPage> {
    const position = positionOf(afterSeq, beforeSeq);
    return this.#again(async (timeoutMs) => {
      const answer = await this.#session.readHistory({ conversationId, position, limit: limit ?? 0 }, { timeoutMs });
      return { messages: answer.messages.map(messageFrom), hasMore: answer.hasMore, epoch: integer(answer.epoch) };
    });
  }

  async catchUp({ conversationId, epoch, afterSeq, amendmentCursor, limit }: CatchUpInput): Promise<CatchUpPage> {
    const cursors = {
      epoch: wireInteger(epoch, 'epoch'),
      afterSeq: wireInteger(afterSeq, 'afterSeq'),
      amendmentCursor: wireInteger(amendmentCursor, 'amendmentCursor'),
    };
    return this.#again(async (timeoutMs) => {
      const answer = await this.#session.catchUp({ conversationId, ...cursors, limit }, { timeoutMs });
      if (answer.reset) return { reset: true };
      return {
        reset: false,
        messages: answer.messages.map(messageFrom),
        amended: answer.amended.map(messageFrom),
        hasMore: answer.hasMore,
        nextAfterSeq: integer(answer.nextAfterSeq),
        nextAmendmentCursor: integer(answer.nextAmendmentCursor),
        epoch: integer(answer.epoch),
      };
    });
  }

  async markRead(conversationId: string, seq: number): Promise<number> {
    const readConversationSeq = wireInteger(seq, 'readConversationSeq');
    return this.#again(async (timeoutMs) => {
      const answer = await this.#session.markRead({ conversationId, readConversationSeq }, { timeoutMs });
      return integer(answer.readConversationSeq);
    });
  }

  /** `marks`: at most MARK_ALL_READ_MAX. What now holds, in the same order. */
  async markAllRead(marks: readonly ReadMark[]): Promise<readonly ReadMark[]> {
    const upTo = marks.map(({ conversationId, conversationSeq }) => ({
      conversationId,
      conversationSeq: wireInteger(conversationSeq, 'upTo'),
    }));
    return this.#again(async (timeoutMs) => {
      const answer = await this.#session.markAllRead({ upTo }, { timeoutMs });
      return answer.readConversationSeqs.map((mark) => ({
        conversationId: mark.conversationId,
        conversationSeq: integer(mark.conversationSeq),
      }));
    });
  }

  getTotals(): Promise<Totals> {
    return this.#again(async (timeoutMs) => {
      const { unreadConversations, unreadCount, mentionCount, exact } = await this.#session.getTotals({}, { timeoutMs });
      return { unreadConversations, unreadCount, mentionCount, exact };
    });
  }

  async clearHistory(conversationId: string, seq: number): Promise<void> {
    const upToSeq = wireInteger(seq, 'upToSeq');
    await this.#again((timeoutMs) => this.#session.clearHistory({ conversationId, upToSeq }, { timeoutMs }));
  }

  /** What is absent stays as it is. */
  setConversationFlags(conversationId: string, flags: ConversationFlagsInput): Promise<Conversation> {
    return this.#again(async (timeoutMs) => {
      const answer = await this.#session.setConversationFlags({ conversationId, ...flags }, { timeoutMs });
      return conversationFrom(answer.conversation);
    });
  }

  #again<T>(run: (timeoutMs: number) => Promise<T>): Promise<T> {
    return again(this.#context, run);
  }
}

function positionOf(afterSeq: number | undefined, beforeSeq: number | undefined): wire.ReadHistoryRequest['position'] {
  if (afterSeq !== undefined && beforeSeq !== undefined) throw invalidArgument('beforeSeq', 'beforeSeq must be absent beside afterSeq');
  if (afterSeq !== undefined) return { case: 'afterSeq', value: wireInteger(afterSeq, 'afterSeq') };
  if (beforeSeq !== undefined) return { case: 'beforeSeq', value: wireInteger(beforeSeq, 'beforeSeq') };
  return { case: undefined };
}
