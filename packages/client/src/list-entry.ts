/**
 * What an answer to a call of one's own says about an entry of the list, so that it need not be read again. Nothing is
 * counted here: a message of one's own is never unread, and past a mark at the head there is nothing. Undefined: more may
 * have changed than the answer tells.
 */
import { EXACT_UNREAD_SCAN_LIMIT, MessageType, SNIPPET_BYTES_MAX } from '@qim/proto';
import type { Conversation, Message, Preview, SoundConversation } from './types.js';

/** `message`: just sent, by this user. Only the one right after the head leaves nothing in between. */
export function withOwnMessage(held: Conversation, message: Message): SoundConversation | undefined {
  const { conversationSeq, epoch } = message;
  if (held.damaged !== undefined || held.previewDamaged !== undefined || held.watermarkAhead || held.epoch !== epoch) return undefined;
  if (conversationSeq !== held.latestConversationSeq + 1) return undefined;
  // Past this distance the server no longer counts exactly.
  if (held.unreadExact && conversationSeq - held.readConversationSeq > EXACT_UNREAD_SCAN_LIMIT) return undefined;
  return {
    ...held,
    latestConversationSeq: conversationSeq,
    lastActivityId: message.activityId,
    lastMessageId: message.messageId,
    preview: message.type === MessageType.Control ? held.preview : previewOf(message),
  };
}

/** `readConversationSeq`: what the server says holds now. */
export function withReadMark(held: Conversation, readConversationSeq: number): SoundConversation | undefined {
  if (held.damaged !== undefined || held.watermarkAhead || readConversationSeq !== held.latestConversationSeq) return undefined;
  const flags = { ...held.flags, markedUnread: false };
  return { ...held, flags, readConversationSeq, unreadCount: 0, unreadExact: true, mentionCount: 0 };
}

function previewOf({ messageId, conversationSeq, type, status, senderUserId, committedAtMs, content }: Message): Preview {
  const text = content.kind === 'text' ? content.text : content.kind === 'data' ? content.contentType : '';
  // The encoder stops before the first character that does not fit.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(SNIPPET_BYTES_MAX));
  const snippet = text.slice(0, read);
  return { messageId, conversationSeq, type, status, senderUserId, snippet, truncated: read < text.length, committedAtMs };
}
