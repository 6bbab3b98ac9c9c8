/** From the generated schema to the SDK's own values: the one place where 64-bit integers and open enums are met. */
import { ControlKind, ConversationKind, HistoryVisibility, MessageStatus, Role } from '@qim/proto';
import type * as wire from '@qim/proto/schema';
import { clientError } from './errors.js';
import { ERROR_REASONS } from './gen/tables.js';
import type { AssignableRole } from './inputs.js';
import type * as own from './types.js';

/** @throws QimClientError BAD_ANSWER past 2^53-1, which no server of ours sends. */
export function integer(value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw clientError('BAD_ANSWER', 'the server sent an integer past 2^53-1');
  return number;
}

/** For tables that are open on the wire: a number that they do not hold is a newer server's. */
function named<T extends string>(names: Readonly<Record<number, T>>, number: number): T | 'unknown' {
  return names[number] ?? 'unknown';
}

const STATUS_NAMES = {
  [MessageStatus.Normal]: 'normal',
  [MessageStatus.Edited]: 'edited',
  [MessageStatus.Recalled]: 'recalled',
  [MessageStatus.Deleted]: 'deleted',
} as const;
const KIND_NAMES = { [ConversationKind.Direct]: 'direct', [ConversationKind.Group]: 'group' } as const;
const ROLE_NAMES = { [Role.Member]: 'member', [Role.Admin]: 'admin', [Role.Owner]: 'owner' } as const;
const DURABILITIES: ReadonlySet<string> = new Set(['synced', 'everysec', 'memory']);

export function identityFrom(welcome: wire.Welcome): own.Identity {
  const ackDurability = DURABILITIES.has(welcome.ackDurability) ? (welcome.ackDurability as own.AckDurability) : 'unknown';
  return { userId: welcome.userId, tenant: integer(welcome.tenant), deviceId: welcome.device, ackDurability };
}

export function messageFrom(message: wire.Message | undefined): own.Message {
  if (message === undefined) throw clientError('BAD_ANSWER', 'the server sent no message where there must be one');
  const { replyTo } = message;
  return {
    messageId: message.messageId,
    conversationId: message.conversationId,
    epoch: integer(message.epoch),
    conversationSeq: integer(message.conversationSeq),
    activityId: message.activityId,
    senderUserId: message.senderUserId,
    senderDeviceId: message.senderDeviceId,
    clientMessageId: message.clientMessageId,
    type: message.type,
    status: named(STATUS_NAMES, message.status),
    revision: message.revision,
    committedAtMs: integer(message.committedAtMs),
    amendedAtMs: integer(message.amendedAtMs),
    mentionUserIds: message.mentionUserIds,
    mentionAll: message.mentionAll,
    replyTo: replyTo && { conversationSeq: integer(replyTo.conversationSeq), messageId: replyTo.messageId },
    replyPreview: message.replyPreview && previewFrom(message.replyPreview),
    content: contentFrom(message.body),
    reactions: message.reactions.map(({ emoji, userIds }) => ({ emoji, userIds })),
    reactionsRevision: message.reactionsRevision,
  };
}

function contentFrom(body: wire.Message['body']): own.MessageContent {
  switch (body.case) {
    case 'text':
      return { kind: 'text', text: body.value };
    case 'content':
      return { kind: 'data', contentType: body.value.contentType, data: body.value.data };
    case 'control':
      return { kind: 'control', control: controlFrom(body.value) };
    case undefined:
      return { kind: 'none' };
  }
}

function controlFrom(control: wire.Control): own.Control {
  const { userIds, title } = control;
  switch (control.kind as number) {
    case ControlKind.Created:
      return { kind: 'created', title, userIds };
    case ControlKind.Joined:
      return { kind: 'joined', userIds };
    case ControlKind.Left:
      return { kind: 'left', userIds };
    case ControlKind.Removed:
      return { kind: 'removed', userIds };
    case ControlKind.Title:
      return { kind: 'title', title };
    case ControlKind.Role:
      return { kind: 'role', userIds, role: named(ROLE_NAMES, control.role) };
    case ControlKind.Settings:
      return { kind: 'settings', settings: settingsFrom(control.settings) };
    case ControlKind.App:
      return { kind: 'app', appType: control.appType, appData: control.appData };
    default:
      return { kind: 'unknown', number: control.kind };
  }
}

function settingsFrom(settings: wire.ConversationSettings | undefined): own.ConversationSettings {
  return {
    historyVisibility: (settings?.historyVisibility as number | undefined) === HistoryVisibility.All ? 'all' : 'fromJoining',
    onlyAdminsPost: settings?.onlyAdminsPost ?? false,
    readReceipts: settings?.readReceipts ?? false,
  };
}

function damageFrom(damaged: wire.Damaged): own.Damage {
  return { reason: reasonName(damaged.reason), conversationSeq: integer(damaged.conversationSeq), what: damaged.what };
}

function reasonName(number: number): string {
  return ERROR_REASONS[number] ?? `REASON_${number}`;
}

function previewFrom(preview: wire.Preview): own.Preview {
  return {
    messageId: preview.messageId,
    conversationSeq: integer(preview.conversationSeq),
    type: preview.type,
    status: named(STATUS_NAMES, preview.status),
    senderUserId: preview.senderUserId,
    snippet: preview.snippet,
    truncated: preview.truncated,
    committedAtMs: integer(preview.committedAtMs),
  };
}

/** An entry without its numbers is damaged, whether the server says so or not: nothing here turns an absent one into 0. */
export function conversationFrom(conversation: wire.Conversation | undefined): own.Conversation {
  if (conversation === undefined) throw clientError('BAD_ANSWER', 'the server sent no conversation where there must be one');
  const { flags, latestConversationSeq, readConversationSeq, unreadCount, unreadExact, damaged } = conversation;
  const common = {
    conversationId: conversation.conversationId,
    kind: named(KIND_NAMES, conversation.kind),
    title: conversation.title,
    peerUserId: conversation.peerUserId === '' ? undefined : conversation.peerUserId,
    preview: conversation.preview && previewFrom(conversation.preview),
    previewDamaged: conversation.previewDamaged && damageFrom(conversation.previewDamaged),
    flags: {
      pinned: flags?.pinned ?? false,
      muted: flags?.muted ?? false,
      hidden: flags?.hidden ?? false,
      markedUnread: flags?.markedUnread ?? false,
    },
    settings: settingsFrom(conversation.settings),
    role: named(ROLE_NAMES, conversation.role),
    epoch: integer(conversation.epoch),
  };
  if (damaged !== undefined) return { ...common, damaged: damageFrom(damaged) };
  if (latestConversationSeq === undefined || readConversationSeq === undefined || unreadCount === undefined || unreadExact === undefined) {
    return { ...common, damaged: { reason: 'CORRUPT_RECORD', conversationSeq: 0, what: 'numbersAbsent' } };
  }
  return {
    ...common,
    damaged: undefined,
    latestConversationSeq: integer(latestConversationSeq),
    lastActivityId: conversation.lastActivityId,
    lastMessageId: conversation.lastMessageId,
    readConversationSeq: integer(readConversationSeq),
    unreadCount,
    unreadExact,
    mentionCount: conversation.mentionCount,
    amendmentCursor: integer(conversation.amendmentCursor),
    watermarkAhead: conversation.watermarkAhead,
  };
}

export function memberFrom(member: wire.Member): own.Member {
  return { userId: member.userId, role: named(ROLE_NAMES, member.role), joinedSeq: integer(member.joinedSeq) };
}

const ROLE_NUMBERS = { member: Role.Member, admin: Role.Admin, owner: Role.Owner } as const;

export function wireRole(role: AssignableRole): Role {
  return ROLE_NUMBERS[role];
}

export function profileFrom(profile: wire.Profile | undefined): own.Profile {
  if (profile === undefined) throw clientError('BAD_ANSWER', 'the server sent no profile where there must be one');
  const { userId, displayName, avatarUrl } = profile;
  return { userId, displayName, avatarUrl };
}

export function wireVisibility(visibility: own.HistoryVisibility): HistoryVisibility {
  return visibility === 'all' ? HistoryVisibility.All : HistoryVisibility.FromJoining;
}
