/**
 * The verifier's own count, as plain as it can be written, from records and nothing else. It shares no code with what the
 * service counts by: the two are compared.
 */
import { EXACT_UNREAD_SCAN_LIMIT, type MessageRecord, MessageStatus, MessageType, type UserId } from '@qim/proto';

/** What a list must say of a conversation; null where it must say nothing. */
export interface Recounted {
  readonly latestConversationSeq: number;
  readonly lastActivityId: string | null;
  readonly lastMessageId: string | null;
  readonly unreadCount: number;
  readonly unreadExact: boolean;
  readonly mentionCount: number | null;
}

/** `records`: those past `floor` when they are no more than EXACT_UNREAD_SCAN_LIMIT sequences away, and the head in any case. */
export function recount(records: readonly MessageRecord[], floor: number, userId: UserId): Recounted {
  const head = records[records.length - 1];
  if (head === undefined) {
    const exact = floor === 0;
    const mentionCount = exact ? 0 : null;
    return { latestConversationSeq: 0, lastActivityId: null, lastMessageId: null, unreadCount: 0, unreadExact: exact, mentionCount };
  }
  const named = { latestConversationSeq: head.conversationSeq, lastActivityId: head.activityId, lastMessageId: head.messageId };
  if (floor > head.conversationSeq) return { ...named, unreadCount: 0, unreadExact: false, mentionCount: null };
  if (head.conversationSeq - floor > EXACT_UNREAD_SCAN_LIMIT) {
    return { ...named, unreadCount: EXACT_UNREAD_SCAN_LIMIT, unreadExact: false, mentionCount: null };
  }
  let unreadCount = 0;
  let mentionCount = 0;
  for (const record of records) {
    if (record.conversationSeq <= floor) continue;
    if (record.sender.userId === userId) continue;
    if (record.type === MessageType.Control) continue;
    if (record.status !== MessageStatus.Normal && record.status !== MessageStatus.Edited) continue;
    unreadCount += 1;
    if (record.mentions.all || record.mentions.userIds.includes(userId)) mentionCount += 1;
  }
  return { ...named, unreadCount, unreadExact: true, mentionCount };
}
