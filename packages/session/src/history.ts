/** Replay of the canonical history, forward, backward, or its newest page. */
import {
  type Caller,
  HISTORY_PAGE_SIZE_DEFAULT,
  HISTORY_PAGE_SIZE_MAX,
  invalidArgument,
  type Message,
  type MessageRecord,
  SEQ_ZERO,
} from '@qim/proto';
import type { HistoryPage } from '@qim/store';
import type { SessionContext } from './context.js';
import type { HistoryInput, HistoryOutput } from './contract.js';

/** Cost: that of MessageStore.readHistory, and 1. @throws NotMember | InvalidArgument (limit) | CorruptRecord | UnsupportedVersion */
export async function readHistory(context: SessionContext, caller: Caller, input: HistoryInput): Promise<HistoryOutput> {
  const { tenantId, userId } = caller;
  const { conversationId, position } = input;
  const limit = admitLimit(input.limit);
  const view = await context.directory.view(tenantId, userId, conversationId);
  const query = { tenantId, userId, conversationId, clearedSeq: view?.clearedSeq ?? SEQ_ZERO, position, limit };
  const page = await context.messages.readHistory(query);
  return { messages: messagesOf(page.records, page), hasMore: page.hasMore, epoch: page.epoch };
}

/** Each with its reactions, and with what it replies to. */
export function messagesOf(
  records: readonly MessageRecord[],
  { reactions, replyPreviews, epoch }: Pick<HistoryPage, 'reactions' | 'replyPreviews' | 'epoch'>,
): Message[] {
  return records.map((record) => {
    const { conversationSeq } = record;
    return { record, epoch, reactions: reactions.get(conversationSeq), replyPreview: replyPreviews.get(conversationSeq) };
  });
}

/** 0: the default. @throws InvalidArgument */
export function admitLimit(limit: number): number {
  if (limit === 0) return HISTORY_PAGE_SIZE_DEFAULT;
  if (Number.isInteger(limit) && limit >= 1 && limit <= HISTORY_PAGE_SIZE_MAX) return limit;
  throw invalidArgument('limit', `an integer 0..${HISTORY_PAGE_SIZE_MAX}`);
}
