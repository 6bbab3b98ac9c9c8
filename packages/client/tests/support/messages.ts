/** Own message values for tests that need no server. */
import type { HistoryPage, Message } from '@qim/client';

export function message(conversationSeq: number, change: Partial<Message> = {}): Message {
  return {
    messageId: `m${conversationSeq}`,
    conversationId: 'g_1',
    epoch: 1,
    conversationSeq,
    activityId: `a${conversationSeq}`,
    senderUserId: 'alice',
    senderDeviceId: '',
    clientMessageId: `c${conversationSeq}`,
    type: 1,
    status: 'normal',
    revision: 0,
    committedAtMs: 1_700_000_000_000,
    amendedAtMs: 0,
    mentionUserIds: [],
    mentionAll: false,
    replyTo: undefined,
    replyPreview: undefined,
    content: { kind: 'text', text: `text ${conversationSeq}` },
    reactions: [],
    reactionsRevision: 0,
    ...change,
  };
}

export function page(seqs: readonly number[], hasMore = false, epoch = 1): HistoryPage {
  return { messages: seqs.map((seq) => message(seq, { epoch })), hasMore, epoch };
}

/** `history` as the server pages it. */
export function pageOf(
  history: readonly Message[],
  position: { after: number } | { before: number } | 'newest',
  limit: number,
  epoch = 1,
): HistoryPage {
  if (position !== 'newest' && 'after' in position) {
    const rest = history.filter((one) => one.conversationSeq > position.after);
    return { messages: rest.slice(0, limit), hasMore: rest.length > limit, epoch };
  }
  const rest = position === 'newest' ? history : history.filter((one) => one.conversationSeq < position.before);
  return { messages: rest.slice(-limit), hasMore: rest.length > limit, epoch };
}
