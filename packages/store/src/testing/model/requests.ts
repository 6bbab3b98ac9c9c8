/** The requests that commands stand for. */
import {
  ControlKind,
  ConversationKind,
  HistoryVisibility,
  type MessageContent,
  MessageType,
  parseActivityId,
  parseClientMessageId,
  parseConversationSeq,
  parseDeviceId,
  parseMessageId,
  Role,
  type UserId,
} from '@qim/proto';
import { uuidv7 } from 'uuidv7';
import type { CommitRequest, MembershipChange } from '../../message/message-store.js';
import type { Command, Saying } from './command.js';
import type { World } from './world.js';

const NO_MENTIONS = { userIds: [], all: false } as const;
/** 3 bytes each. */
const IDEOGRAPH = '漢';

export function textOf(bytes: number): MessageContent {
  return { kind: 'text', text: bytes % 3 === 0 ? IDEOGRAPH.repeat(bytes / 3) : 'x'.repeat(bytes) };
}

function contentOf({ what, bytes }: Saying): MessageContent {
  switch (what) {
    case 'text':
      return textOf(bytes);
    case 'data':
      return { kind: 'data', contentType: 'application/x-model', data: new Uint8Array(bytes).fill(7) };
    case 'app':
      return { kind: 'control', control: { kind: ControlKind.App, appType: 'model', appData: new Uint8Array(bytes).fill(8) } };
    case 'title':
      return { kind: 'control', control: { kind: ControlKind.Title, title: 't'.repeat(Math.min(bytes, 100)) } };
  }
}

/** Fresh ids: of the message, its activity, and the client's own. */
function freshRequest(world: World, chat: number, userId: UserId): CommitRequest {
  return {
    tenantId: world.tenantId,
    conversationId: world.chat(chat),
    sender: { userId, deviceId: world.sent.length % 2 === 0 ? parseDeviceId('phone') : undefined },
    clientMessageId: parseClientMessageId(`c${world.sent.length}`),
    messageId: parseMessageId(uuidv7()),
    activityId: parseActivityId(uuidv7()),
    type: MessageType.Text,
    content: textOf(3),
    mentions: NO_MENTIONS,
    replyTo: undefined,
    needs: 'post',
  };
}

export async function sayingRequest(world: World, saying: Saying): Promise<CommitRequest> {
  const { chat, by, type, what, mentions, mentionsAll, replyBack } = saying;
  const conversationId = world.chat(chat);
  const control = what === 'app' || what === 'title';
  const named = replyBack === undefined ? undefined : world.sequenceBack(chat, replyBack);
  const replied = named === undefined ? undefined : await world.record(world.model, conversationId, named);
  return {
    ...freshRequest(world, chat, await world.actor(chat, by)),
    type: control ? MessageType.Control : type,
    content: contentOf(saying),
    mentions: { userIds: mentions.map((user) => world.user(user)), all: mentionsAll },
    replyTo: replied && { conversationSeq: replied.conversationSeq, messageId: replied.messageId },
    needs: what === 'title' ? 'admin' : 'post',
  };
}

export async function burstRequests(world: World, chat: number, by: number, count: number): Promise<CommitRequest[]> {
  const first = world.sent.length;
  const request = freshRequest(world, chat, await world.actor(chat, by));
  return Array.from({ length: count }, (_, n) => ({
    ...request,
    clientMessageId: parseClientMessageId(`c${first + n}`),
    messageId: parseMessageId(uuidv7()),
    activityId: parseActivityId(uuidv7()),
    content: textOf(n + 1),
  }));
}

export function createRequest(world: World, command: Extract<Command, { kind: 'create' }>): CommitRequest {
  const { chat, by, others, direct, showsPast, onlyAdminsPost } = command;
  const userIds = [...new Set([by, ...(direct ? others.slice(0, 1) : others)])].map((user) => world.user(user));
  const owner = world.user(by);
  const members = userIds.map((userId) => ({ userId, role: userId === owner && !direct ? Role.Owner : Role.Member }));
  const historyVisibility = showsPast ? HistoryVisibility.All : HistoryVisibility.FromJoining;
  const plain = freshRequest(world, chat, owner);
  if (direct) {
    const settings = { historyVisibility: HistoryVisibility.FromJoining, onlyAdminsPost: false };
    return { ...plain, create: { kind: ConversationKind.Direct, title: '', settings, members, onlyNew: false } };
  }
  const title = `chat ${chat}`;
  const create = { kind: ConversationKind.Group, title, settings: { historyVisibility, onlyAdminsPost }, members, onlyNew: true };
  const content: MessageContent = { kind: 'control', control: { kind: ControlKind.Created, title, userIds } };
  return { ...plain, type: MessageType.Control, content, create };
}

type Changing = Extract<Command, { kind: 'join' } | { kind: 'leave' }>;

export async function changeRequest(world: World, { kind, chat, by, users }: Changing): Promise<CommitRequest> {
  const sender = await world.actor(chat, by);
  const userIds = users.map((user) => world.user(user));
  const leaver = userIds.length === 1 && userIds[0] === sender ? ControlKind.Left : ControlKind.Removed;
  const control = { kind: kind === 'join' ? ControlKind.Joined : leaver, userIds } as const;
  const change: MembershipChange = { kind, userIds };
  const needs = leaver === ControlKind.Left && kind === 'leave' ? 'member' : 'admin';
  return { ...freshRequest(world, chat, sender), type: MessageType.Control, content: { kind: 'control', control }, needs, change };
}

export async function roleRequest(world: World, { chat, by, user, role }: Extract<Command, { kind: 'role' }>): Promise<CommitRequest> {
  const userIds = [world.user(user)];
  const content: MessageContent = { kind: 'control', control: { kind: ControlKind.Role, userIds, role } };
  const change = { kind: 'role', userIds, role } as const;
  return { ...freshRequest(world, chat, await world.actor(chat, by)), type: MessageType.Control, content, needs: 'owner', change };
}

type Configuring = Extract<Command, { kind: 'configure' }>;

export async function configureRequest(world: World, command: Configuring): Promise<CommitRequest> {
  const { chat, by, title, onlyAdminsPost, showsPast, readReceipts, stale } = command;
  const plain = { ...freshRequest(world, chat, await world.actor(chat, by)), type: MessageType.Control, needs: 'admin' } as const;
  if (title !== undefined) {
    const content: MessageContent = { kind: 'control', control: { kind: ControlKind.Title, title } };
    return { ...plain, content, change: { kind: 'title', title } };
  }
  const { facts } = await world.model.messages.readConversation(world.tenantId, world.chat(chat), world.user(0));
  const before = facts?.settings ?? { historyVisibility: HistoryVisibility.FromJoining, onlyAdminsPost: false };
  const settings = {
    historyVisibility: showsPast ? HistoryVisibility.All : HistoryVisibility.FromJoining,
    onlyAdminsPost,
    ...(readReceipts ? { readReceipts } : {}),
  };
  const expected = stale ? { ...before, onlyAdminsPost: !before.onlyAdminsPost } : before;
  const content: MessageContent = { kind: 'control', control: { kind: ControlKind.Settings, settings } };
  return { ...plain, content, change: { kind: 'settings', before: expected, settings } };
}

/** As a client tries again: its own id and content, and fresh ids of the server. */
export function retriedRequest(world: World, which: number, otherContent: boolean): CommitRequest | undefined {
  const first = world.sent.length === 0 ? undefined : world.sent[which % world.sent.length];
  if (first === undefined || world.mayBeForgotten(first.atMs)) return undefined;
  const again = { ...first.request, messageId: parseMessageId(uuidv7()), activityId: parseActivityId(uuidv7()) };
  return otherContent ? { ...again, content: textOf(17) } : again;
}

export const seq = parseConversationSeq;
