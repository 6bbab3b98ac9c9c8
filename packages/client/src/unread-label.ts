import type { Conversation } from './types.js';

/**
 * What a badge shows: '' for none, the number while it is exact, '200+' when the server stopped counting. Undefined for a
 * damaged conversation: there is no number to show, and saying nothing would look like 0.
 */
export function unreadLabel(conversation: Conversation): string | undefined {
  if (conversation.damaged !== undefined) return undefined;
  const { unreadCount, unreadExact } = conversation;
  if (!unreadExact) return `${unreadCount}+`;
  return unreadCount === 0 ? '' : String(unreadCount);
}
