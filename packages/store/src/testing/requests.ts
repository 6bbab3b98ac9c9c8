/** Commits as a server makes them, for tests and tools that fill a store. */
import {
  type ConversationId,
  ConversationKind,
  HistoryVisibility,
  LEGACY_TENANT_ID,
  MessageType,
  parseActivityId,
  parseClientMessageId,
  parseMessageId,
  Role,
  type UserId,
} from '@qim/proto';
import { uuidv7 } from 'uuidv7';
import type { CommitRequest } from '../message/message-store.js';

/** A text under fresh ids, to a conversation of the tenant 0 that is there. `part` says what is otherwise. */
export function commitRequest(by: UserId, conversationId: ConversationId, part: Partial<CommitRequest> = {}): CommitRequest {
  return {
    tenantId: LEGACY_TENANT_ID,
    conversationId,
    sender: { userId: by, deviceId: undefined },
    clientMessageId: parseClientMessageId(uuidv7()),
    messageId: parseMessageId(uuidv7()),
    activityId: parseActivityId(uuidv7()),
    type: MessageType.Text,
    content: { kind: 'text', text: 'hello' },
    mentions: { userIds: [], all: false },
    replyTo: undefined,
    needs: 'post',
    create: undefined,
    ...part,
  };
}

/** For the `create` of a request: a direct conversation of these, unless it is there. */
export function directCreate(
  userIds: readonly UserId[],
  historyVisibility: HistoryVisibility = HistoryVisibility.FromJoining,
): NonNullable<CommitRequest['create']> {
  return {
    kind: ConversationKind.Direct,
    title: '',
    settings: { historyVisibility, onlyAdminsPost: false },
    members: userIds.map((userId) => ({ userId, role: Role.Member })),
    onlyNew: false,
  };
}
