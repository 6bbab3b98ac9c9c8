/** An entry of the list, and a message, as tests begin with them. */
import { MessageType } from '@qim/proto';
import type { Message, SoundConversation } from '../../src/types.js';

export const MESSAGE: Message = {
  messageId: 'm1',
  conversationId: 'a',
  epoch: 1,
  conversationSeq: 1,
  activityId: 'a1',
  senderUserId: 'me',
  senderDeviceId: '',
  clientMessageId: 'c1',
  type: MessageType.Text,
  status: 'normal',
  revision: 0,
  committedAtMs: 1_000,
  amendedAtMs: 0,
  mentionUserIds: [],
  mentionAll: false,
  replyTo: undefined,
  replyPreview: undefined,
  content: { kind: 'text', text: 'hello' },
  reactions: [],
  reactionsRevision: 0,
};

export function sound(conversationId: string, latestConversationSeq = 1): SoundConversation {
  return {
    conversationId,
    latestConversationSeq,
    kind: 'group',
    title: conversationId,
    peerUserId: undefined,
    preview: undefined,
    previewDamaged: undefined,
    flags: { pinned: false, muted: false, hidden: false, markedUnread: false },
    settings: { historyVisibility: 'all', onlyAdminsPost: false, readReceipts: false },
    role: 'member',
    epoch: 1,
    damaged: undefined,
    lastActivityId: 'a',
    lastMessageId: 'm',
    readConversationSeq: 0,
    unreadCount: 0,
    unreadExact: true,
    mentionCount: 0,
    amendmentCursor: 0,
    watermarkAhead: false,
  };
}
