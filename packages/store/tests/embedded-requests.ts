/** One conversation of alice and bob, the same in every process. */
import {
  ConversationKind,
  HistoryVisibility,
  LEGACY_TENANT_ID,
  MessageType,
  parseActivityId,
  parseClientMessageId,
  parseConversationId,
  parseMessageId,
  parseUserId,
  Role,
} from '@qim/proto';
import { uuidv7 } from 'uuidv7';
import type { CommitRequest } from '../src/message/message-store.js';

export const ALICE = parseUserId('alice');
export const BOB = parseUserId('bob');
export const CHAT = { tenantId: LEGACY_TENANT_ID, conversationId: parseConversationId('d_alice-bob') };

export function aliceSays(clientMessageId: string): CommitRequest {
  const members = [ALICE, BOB].map((userId) => ({ userId, role: Role.Member }));
  const settings = { historyVisibility: HistoryVisibility.FromJoining, onlyAdminsPost: false };
  return {
    ...CHAT,
    sender: { userId: ALICE, deviceId: undefined },
    clientMessageId: parseClientMessageId(clientMessageId),
    messageId: parseMessageId(uuidv7()),
    activityId: parseActivityId(uuidv7()),
    type: MessageType.Text,
    content: { kind: 'text', text: `this is ${clientMessageId}` },
    mentions: { userIds: [], all: false },
    replyTo: undefined,
    needs: 'post',
    create: { kind: ConversationKind.Direct, title: '', settings, members, onlyNew: false },
  };
}
