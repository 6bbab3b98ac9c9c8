/**
 * From domain values to the messages of answers and events. Numbers of the domain are safe integers, so that each has one
 * bigint. What is absent on a damaged conversation is left unset here, and nowhere filled in: `create` takes undefined for
 * unset.
 */
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  type Control,
  ControlKind,
  type ConversationSeq,
  type ConversationSettings,
  type Message,
  type MessageContent,
  type Preview,
} from '@qim/proto';
import {
  type CatchUpResponseSchema,
  ControlSchema,
  ConversationSchema,
  ConversationSettingsSchema,
  DamagedSchema,
  ErrorReason,
  EventSchema,
  ExplanationSchema,
  MemberSchema,
  MessageSchema,
  PreviewSchema,
  Role,
  type Control as WireControl,
  type Conversation as WireConversation,
  type Damaged as WireDamaged,
  type Event as WireEvent,
  type Explanation as WireExplanation,
  type Member as WireMember,
  type Message as WireMessage,
  type MessageType as WireMessageType,
  type Preview as WirePreview,
} from '@qim/proto/schema';
import type { PushEvent } from '@qim/push';
import type { CatchUpOutput, DamagedConversation, Explanation, ListedConversation, ListedMember, SoundConversation } from '@qim/session';
import type { DuplicateIds, SendMessageOutput } from '@qim/writer';

export function wireMessage({ record, epoch, reactions, replyPreview }: Message): WireMessage {
  const { replyTo } = record;
  return create(MessageSchema, {
    messageId: record.messageId,
    conversationId: record.conversationId,
    epoch: BigInt(epoch),
    conversationSeq: BigInt(record.conversationSeq),
    activityId: record.activityId,
    senderUserId: record.sender.userId,
    senderDeviceId: record.sender.deviceId ?? '',
    clientMessageId: record.clientMessageId,
    type: openType(record.type),
    status: record.status,
    revision: record.revision,
    committedAtMs: BigInt(record.committedAtMs),
    amendedAtMs: BigInt(record.amendedAtMs),
    mentionUserIds: [...record.mentions.userIds],
    mentionAll: record.mentions.all,
    replyTo: replyTo && { conversationSeq: BigInt(replyTo.conversationSeq), messageId: replyTo.messageId },
    body: wireBody(record.content),
    reactions: (reactions?.kinds ?? []).map(({ emoji, userIds }) => ({ emoji, userIds: [...userIds] })),
    reactionsRevision: reactions?.revision ?? 0,
    replyPreview: replyPreview && wirePreview(replyPreview),
  });
}

export function wireCatchUp(page: CatchUpOutput): MessageInitShape<typeof CatchUpResponseSchema> {
  if (page.reset) return { reset: true, epoch: BigInt(page.epoch) };
  return {
    messages: page.messages.map(wireMessage),
    amended: page.amended.map(wireMessage),
    hasMore: page.hasMore,
    nextAfterSeq: BigInt(page.nextAfter),
    nextAmendmentCursor: BigInt(page.nextAmendmentCursor),
    epoch: BigInt(page.epoch),
  };
}

/** The enum is open: a number without a name is carried as it is. */
function openType(type: number): WireMessageType {
  return type as WireMessageType;
}

type WireBody = NonNullable<MessageInitShape<typeof MessageSchema>['body']>;

function wireBody(content: MessageContent): WireBody {
  switch (content.kind) {
    case 'text':
      return { case: 'text', value: content.text };
    case 'data':
      return { case: 'content', value: { contentType: content.contentType, data: content.data } };
    case 'control':
      return { case: 'control', value: wireControl(content.control) };
    case 'none':
      return { case: undefined };
  }
}

function wireControl(control: Control): WireControl {
  switch (control.kind) {
    case ControlKind.Created:
      return create(ControlSchema, { kind: control.kind, title: control.title, userIds: [...control.userIds] });
    case ControlKind.Joined:
    case ControlKind.Left:
    case ControlKind.Removed:
      return create(ControlSchema, { kind: control.kind, userIds: [...control.userIds] });
    case ControlKind.Title:
      return create(ControlSchema, { kind: control.kind, title: control.title });
    case ControlKind.Role:
      return create(ControlSchema, { kind: control.kind, userIds: [...control.userIds], role: control.role });
    case ControlKind.Settings:
      return create(ControlSchema, { kind: control.kind, settings: wireSettings(control.settings) });
    case ControlKind.App:
      return create(ControlSchema, { kind: control.kind, appType: control.appType, appData: control.appData });
  }
}

function wireSettings({ historyVisibility, onlyAdminsPost, readReceipts = false }: ConversationSettings) {
  return create(ConversationSettingsSchema, { historyVisibility, onlyAdminsPost, readReceipts });
}

/** All that is told of a duplicate whose record is gone, or is not the caller's to see any more. */
function wireDuplicate(ids: DuplicateIds): WireMessage {
  return create(MessageSchema, {
    conversationId: ids.conversationId,
    conversationSeq: BigInt(ids.conversationSeq),
    messageId: ids.messageId,
    clientMessageId: ids.clientMessageId,
    committedAtMs: BigInt(ids.committedAtMs),
  });
}

export function wireSent({ message, duplicate }: SendMessageOutput) {
  return { message: 'idsOnly' in message ? wireDuplicate(message.idsOnly) : wireMessage(message), duplicate };
}

export function wireConversation(conversation: ListedConversation): WireConversation {
  return conversation.damaged === undefined ? soundConversation(conversation) : damagedConversation(conversation);
}

function soundConversation(conversation: SoundConversation): WireConversation {
  const { summary, listing } = conversation;
  return create(ConversationSchema, {
    ...entryOf(conversation),
    latestConversationSeq: BigInt(summary.latestConversationSeq),
    lastActivityId: summary.lastActivityId,
    lastMessageId: summary.lastMessageId,
    readConversationSeq: BigInt(conversation.readConversationSeq),
    unreadCount: summary.unreadCount,
    unreadExact: summary.unreadExact,
    mentionCount: summary.mentionCount,
    preview: conversation.preview && wirePreview(conversation.preview),
    previewDamaged: conversation.previewDamage && wireDamage(conversation.previewDamage),
    amendmentCursor: BigInt(listing.amendmentNumber),
    watermarkAhead: listing.watermarkAhead,
    explanation: conversation.explanation && wireExplanation(conversation.explanation),
  });
}

function damagedConversation(conversation: DamagedConversation): WireConversation {
  return create(ConversationSchema, { ...entryOf(conversation), damaged: wireDamage(conversation.damaged) });
}

/** What both kinds have. Nothing in it is a number that a client shows. */
function entryOf({ conversationId, listing, peerUserId, flags, role }: ListedConversation): MessageInitShape<typeof ConversationSchema> {
  const named = { conversationId, peerUserId: peerUserId ?? '', flags: { ...flags }, role: role ?? Role.UNSPECIFIED };
  if (listing === undefined) return named;
  const { kind, title, settings, epoch } = listing;
  return { ...named, kind, title, settings: wireSettings(settings), epoch: BigInt(epoch) };
}

function wirePreview(preview: Preview): WirePreview {
  return create(PreviewSchema, {
    ...preview,
    type: openType(preview.type),
    conversationSeq: BigInt(preview.conversationSeq),
    committedAtMs: BigInt(preview.committedAtMs),
  });
}

function wireExplanation(explanation: Explanation): WireExplanation {
  return create(ExplanationSchema, {
    ...explanation,
    readConversationSeq: BigInt(explanation.readConversationSeq),
    unreadFloor: BigInt(explanation.unreadFloor),
    headConversationSeq: BigInt(explanation.headConversationSeq),
  });
}

function wireDamage({ code, detail }: DamagedConversation['damaged']): WireDamaged {
  const reason = code === 'UnsupportedVersion' ? ErrorReason.UNSUPPORTED_VERSION : ErrorReason.CORRUPT_RECORD;
  return create(DamagedSchema, { reason, conversationSeq: BigInt(detail.conversationSeq), what: detail.reason });
}

/** `readSeq` undefined: not asked for, or not for the caller to know. */
export function wireMember({ userId, role, joinedSeq }: ListedMember, readSeq: ConversationSeq | undefined): WireMember {
  const read = readSeq === undefined ? {} : { readConversationSeq: BigInt(readSeq) };
  return create(MemberSchema, { userId, role, joinedSeq: BigInt(joinedSeq), ...read });
}

export function wireEvent(event: PushEvent): WireEvent {
  return create(EventSchema, { kind: eventKind(event) });
}

type EventKind = NonNullable<MessageInitShape<typeof EventSchema>['kind']>;

function eventKind(event: PushEvent): EventKind {
  switch (event.kind) {
    case 'messageCommitted':
    case 'messageAmended':
      return { case: event.kind, value: { message: wireMessage(event.message) } };
    case 'readAdvanced': {
      const { conversationId, userId, readConversationSeq } = event;
      return { case: event.kind, value: { conversationId, userId, readConversationSeq: BigInt(readConversationSeq) } };
    }
    case 'conversationChanged':
    case 'removed':
      return { case: event.kind, value: { conversationId: event.conversationId } };
    case 'typing':
      return { case: event.kind, value: { conversationId: event.conversationId, userId: event.userId, on: event.on } };
    case 'presence':
      return { case: event.kind, value: { userId: event.userId, online: event.online } };
    case 'resyncNeeded':
      return { case: event.kind, value: {} };
    case 'suspended':
      throw new Error('assertion failed: what closes a connection is not sent over it');
  }
}
