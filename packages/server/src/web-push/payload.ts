/** What a browser is told, in JSON: where to look, and the badge; nothing that a user wrote unless the operator lets it. */
import { createHash } from 'node:crypto';
import type { WebPushNotification } from '@qim/push';
import { snippetOf } from '@qim/store';

/** `content`: who sent it, and the beginning of its text. At most 3 KiB. */
export function payloadOf({ userId, message, badge }: Omit<WebPushNotification, 'subscription'>, content: boolean): object {
  const { tenantId, conversationId, conversationSeq, messageId, sender } = message.record;
  const place = { type: 'message', tenantId, userId, conversationId, conversationSeq: String(conversationSeq), messageId, badge };
  if (!content) return place;
  const { text, truncated, isContentType } = snippetOf(message.record.content);
  return { ...place, senderUserId: sender.userId, ...(isContentType ? { contentType: text } : { text, truncated }) };
}

/**
 * While a browser is away its push service keeps the newest notification of a topic, so that it is told once of each
 * conversation when it is back. 32 characters of base64url, which tell the push service nothing.
 */
export function topicOf({ message, userId }: Omit<WebPushNotification, 'subscription'>): string {
  const { tenantId, conversationId } = message.record;
  return createHash('sha256').update(`${tenantId}\n${userId}\n${conversationId}`).digest('base64url').slice(0, 32);
}
