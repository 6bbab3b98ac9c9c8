/**
 * From request messages to domain values. Every refusal names the field as the API spells it; sizes and combinations that
 * need no parsing are the writer's and the session's to check.
 */
import {
  type Control,
  ControlKind,
  type ConversationSeq,
  HistoryVisibility,
  invalidArgument,
  MESSAGE_TYPE_MAX,
  type MessageContent,
  type MessageType,
  parseConversationId,
  parseConversationSeq,
  parseMessageId,
  parseUserId,
  type ReplyTo,
  Role,
  SEQ_MAX,
  type UserId,
} from '@qim/proto';
import type { EditMessageRequest, MessageRef, SendMessageRequest, Control as WireControl, ReplyTo as WireReplyTo } from '@qim/proto/schema';
import type { EditMessageInput, SendTarget, MessageRef as TargetRef } from '@qim/writer';

/** Place of an existing message: 0 is none. */
export function messageSeq(value: bigint, field = 'conversationSeq'): ConversationSeq {
  if (value < 1n) throw invalidArgument(field, `an integer 1..${SEQ_MAX}`);
  return parseConversationSeq(value, field);
}

export function userIds(texts: readonly string[], field: string): readonly UserId[] {
  return texts.map((text) => parseUserId(text, field));
}

export function sendTarget({ target }: SendMessageRequest): SendTarget {
  if (target.case === 'conversationId') return { conversationId: parseConversationId(target.value) };
  if (target.case === 'toUserId') return { toUserId: parseUserId(target.value, 'toUserId') };
  throw invalidArgument('conversationId', 'given, or toUserId instead');
}

/** Open: any number that the schema may carry, but for 0. */
export function messageType(type: number): MessageType {
  if (type < 1 || type > MESSAGE_TYPE_MAX) throw invalidArgument('type', 'a message type other than MESSAGE_TYPE_UNSPECIFIED');
  return type;
}

export function sentContent({ body }: SendMessageRequest): MessageContent {
  if (body.case === 'control') return { kind: 'control', control: appControl(body.value) };
  return editableContent(body, 'given, or content, or control');
}

export function editedContent({ body }: EditMessageRequest): MessageContent {
  return editableContent(body, 'given, or content instead');
}

function editableContent(body: EditMessageRequest['body'], allowed: string): MessageContent {
  if (body.case === 'text') return { kind: 'text', text: body.value };
  if (body.case === 'content') return { kind: 'data', contentType: body.value.contentType, data: body.value.data };
  throw invalidArgument('text', allowed);
}

/** The other kinds say what happened to a group, and are the server's to write. */
function appControl(control: WireControl): Control {
  if (control.kind !== ControlKind.App) throw invalidArgument('control.kind', 'CONTROL_KIND_APP');
  // Said rather than dropped: none of these would be stored.
  if (control.userIds.length > 0) throw invalidArgument('control.userIds', 'empty with CONTROL_KIND_APP');
  if (control.title !== '') throw invalidArgument('control.title', 'empty with CONTROL_KIND_APP');
  if (control.role !== 0) throw invalidArgument('control.role', 'absent with CONTROL_KIND_APP');
  if (control.settings !== undefined) throw invalidArgument('control.settings', 'absent with CONTROL_KIND_APP');
  return { kind: ControlKind.App, appType: control.appType, appData: control.appData };
}

export function replyTarget(replyTo: WireReplyTo | undefined): ReplyTo | undefined {
  if (replyTo === undefined) return undefined;
  return {
    conversationSeq: messageSeq(replyTo.conversationSeq, 'replyTo.conversationSeq'),
    messageId: parseMessageId(replyTo.messageId, 'replyTo.messageId'),
  };
}

export function targetRef(ref: Pick<MessageRef, 'conversationId' | 'conversationSeq' | 'messageId'>): TargetRef {
  return {
    conversationId: parseConversationId(ref.conversationId),
    conversationSeq: messageSeq(ref.conversationSeq),
    messageId: parseMessageId(ref.messageId),
  };
}

export function editInput(request: EditMessageRequest): EditMessageInput {
  return {
    ...targetRef(request),
    content: editedContent(request),
    mentionUserIds: userIds(request.mentionUserIds, 'mentionUserIds'),
    mentionAll: request.mentionAll,
  };
}

/** At creation: unspecified is FROM_JOINING. */
export function historyVisibility(value: number, field = 'historyVisibility'): HistoryVisibility {
  return value === 0 ? HistoryVisibility.FromJoining : namedHistoryVisibility(value, field);
}

export function role(value: number): Role {
  if (value === Role.Member || value === Role.Admin || value === Role.Owner) return value;
  throw invalidArgument('role', 'ROLE_MEMBER, ROLE_ADMIN or ROLE_OWNER');
}

export function namedHistoryVisibility(value: number, field = 'historyVisibility'): HistoryVisibility {
  if (value === HistoryVisibility.FromJoining || value === HistoryVisibility.All) return value;
  throw invalidArgument(field, 'HISTORY_VISIBILITY_FROM_JOINING or HISTORY_VISIBILITY_ALL');
}
