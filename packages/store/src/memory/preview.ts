/** What the reference model shows of a message in one line. */
import { type ConversationSeq, type MessageRecord, type Preview, SNIPPET_BYTES_MAX, utf8Bytes } from '@qim/proto';
import type { ReplyPreviews } from '../message/message-store.js';
import type { MemoryConversation } from './state.js';

/** By the sequence of the reply; nothing of what lies at or below the floor. */
export function replyPreviewsOf({ records }: MemoryConversation, page: readonly MessageRecord[], floor: number): ReplyPreviews {
  const found = new Map<ConversationSeq, Preview>();
  for (const { conversationSeq, replyTo } of page) {
    const target = replyTo && records.get(replyTo.conversationSeq);
    if (target === undefined || target.messageId !== replyTo?.messageId || target.conversationSeq <= floor) continue;
    const preview = previewOf(target);
    if (preview !== undefined) found.set(conversationSeq, preview);
  }
  return found;
}

export function previewOf(record: MessageRecord | undefined): Preview | undefined {
  if (record === undefined) return undefined;
  const { messageId, conversationSeq, type, status, committedAtMs, content } = record;
  const text = content.kind === 'text' ? content.text : content.kind === 'data' ? content.contentType : '';
  let [snippet, bytes] = ['', 0];
  for (const char of text) {
    bytes += utf8Bytes(char);
    if (bytes > SNIPPET_BYTES_MAX) break;
    snippet += char;
  }
  const truncated = snippet.length < text.length;
  return { messageId, conversationSeq, type, status, senderUserId: record.sender.userId, snippet, truncated, committedAtMs };
}
