/** One group with everybody in it whom the table of authorisation tells apart, and what each of them would ask. */
import { createECDH, randomUUID } from 'node:crypto';
import {
  ControlKind,
  type ConversationId,
  ConversationKind,
  HistoryVisibility,
  LEGACY_TENANT_ID,
  type MessageRecord,
  MessageType,
  type MethodName,
  parseActivityId,
  parseClientMessageId,
  parseConversationId,
  parseMessageId,
  parseUserId,
  Role,
  type UserId,
} from '@qim/proto';
import type { CommitRequest, Store } from '@qim/store';

/** As a page would register it. */
const BROWSER = {
  endpoint: 'https://push.example/x',
  p256dh: createECDH('prime256v1').generateKeys('base64url'),
  auth: Buffer.alloc(16).toString('base64url'),
};

export const RELATIONS = [
  'owner',
  'admin',
  'author',
  'member',
  'blocked',
  'suspended',
  'former',
  'outsider',
  'otherTenant',
  'nonexistent',
  'adminToken',
  'onBehalfOfMember',
  'onBehalfOfOutsider',
] as const;
export type Relation = (typeof RELATIONS)[number];

export interface Scene {
  readonly conversationId: ConversationId;
  /** Sent by `author`. */
  readonly message: MessageRecord;
}

const users = {
  owner: parseUserId('owner'),
  /** A group never loses its last owner; with two of them one may leave. */
  coOwner: parseUserId('coOwner'),
  admin: parseUserId('admin'),
  author: parseUserId('author'),
  member: parseUserId('member'),
  /** By everybody else: in a group nothing changes by it. */
  blocked: parseUserId('blocked'),
  /** Whom the tenant's admins keep out. */
  suspended: parseUserId('suspended'),
  former: parseUserId('former'),
  /** Whom the admins would remove. */
  extra: parseUserId('extra'),
};

/** No method gives a role yet: the group is made in the store, with its roles from the start. */
export async function makeScene({ messages, users: people }: Store): Promise<Scene> {
  const conversationId = parseConversationId(`g_${randomUUID()}`);
  const commit = (sender: UserId, more: Pick<CommitRequest, 'type' | 'content' | 'create' | 'change'>) =>
    messages.commit({
      tenantId: LEGACY_TENANT_ID,
      conversationId,
      sender: { userId: sender, deviceId: undefined },
      clientMessageId: parseClientMessageId(randomUUID()),
      messageId: parseMessageId(randomUUID()),
      activityId: parseActivityId(randomUUID()),
      mentions: { userIds: [], all: false },
      replyTo: undefined,
      needs: 'member',
      ...more,
    });
  const roles = new Map([
    [users.owner, Role.Owner],
    [users.coOwner, Role.Owner],
    [users.admin, Role.Admin],
  ]);
  const userIds = Object.values(users);
  await commit(users.owner, {
    type: MessageType.Control,
    content: { kind: 'control', control: { kind: ControlKind.Created, title: 'scene', userIds } },
    create: {
      kind: ConversationKind.Group,
      title: 'scene',
      settings: { historyVisibility: HistoryVisibility.All, onlyAdminsPost: false },
      members: userIds.map((userId) => ({ userId, role: roles.get(userId) ?? Role.Member })),
      onlyNew: true,
    },
  });
  const sent = await commit(users.author, { type: MessageType.Text, content: { kind: 'text', text: 'from the author' } });
  await commit(users.former, {
    type: MessageType.Control,
    content: { kind: 'control', control: { kind: ControlKind.Left, userIds: [users.former] } },
    change: { kind: 'leave', userIds: [users.former] },
  });
  await people.suspend(LEGACY_TENANT_ID, users.suspended, undefined, true);
  for (const user of [users.owner, users.admin, users.author, users.member]) await people.block(LEGACY_TENANT_ID, user, users.blocked);
  if (sent.message === undefined) throw new Error('the message of the author was not committed');
  return { conversationId, message: sent.message.record };
}

const inConversation = ({ conversationId }: Scene) => ({ conversationId });
const ofMessage = ({ conversationId, message }: Scene) => ({
  conversationId,
  conversationSeq: String(message.conversationSeq),
  messageId: message.messageId,
});
const nothing = () => ({});
const someone = () => ({ userId: 'someone' });

/** A request for each method that would be right, were the caller allowed to make it. */
export const REQUESTS: { readonly [Name in MethodName]: (scene: Scene) => object } = {
  'qim.v1.MessageService/SendMessage': (scene) => ({
    ...inConversation(scene),
    clientMessageId: randomUUID(),
    type: 'MESSAGE_TYPE_TEXT',
    text: 'hello',
  }),
  'qim.v1.MessageService/EditMessage': (scene) => ({ ...ofMessage(scene), text: 'changed' }),
  'qim.v1.MessageService/RecallMessage': ofMessage,
  'qim.v1.MessageService/DeleteMessage': ofMessage,
  'qim.v1.MessageService/SetReaction': (scene) => ({ ...ofMessage(scene), emoji: '👍', on: true }),
  'qim.v1.SessionService/ListConversations': nothing,
  'qim.v1.SessionService/GetConversation': inConversation,
  'qim.v1.SessionService/MarkRead': (scene) => ({ ...inConversation(scene), readConversationSeq: '1' }),
  'qim.v1.SessionService/MarkAllRead': (scene) => ({ upTo: [{ ...inConversation(scene), conversationSeq: '1' }] }),
  'qim.v1.SessionService/GetTotals': nothing,
  'qim.v1.SessionService/ReadHistory': inConversation,
  'qim.v1.SessionService/CatchUp': inConversation,
  'qim.v1.SessionService/ClearHistory': (scene) => ({ ...inConversation(scene), upToSeq: '1' }),
  'qim.v1.SessionService/SetConversationFlags': (scene) => ({ ...inConversation(scene), muted: true }),
  'qim.v1.ConversationService/CreateGroup': () => ({ title: 'another', memberIds: ['someone'] }),
  'qim.v1.ConversationService/AddMembers': (scene) => ({ ...inConversation(scene), memberIds: ['someone'] }),
  'qim.v1.ConversationService/RemoveMember': (scene) => ({ ...inConversation(scene), userId: users.extra }),
  'qim.v1.ConversationService/LeaveGroup': inConversation,
  'qim.v1.ConversationService/SetRole': (scene) => ({ ...inConversation(scene), userId: users.extra, role: 'ROLE_ADMIN' }),
  'qim.v1.ConversationService/UpdateConversation': (scene) => ({ ...inConversation(scene), title: 'renamed' }),
  'qim.v1.ConversationService/ListMembers': inConversation,
  'qim.v1.ProfileService/SetProfile': () => ({ displayName: 'x' }),
  'qim.v1.ProfileService/GetProfiles': () => ({ userIds: ['someone'] }),
  'qim.v1.PushService/GetWebPushKey': nothing,
  'qim.v1.PushService/RegisterWebPush': () => BROWSER,
  'qim.v1.PushService/UnregisterWebPush': () => ({ endpoint: BROWSER.endpoint }),
  'qim.v1.EventService/Subscribe': nothing,
  'qim.v1.EventService/SetTyping': (scene) => ({ ...inConversation(scene), on: true }),
  'qim.v1.ModerationService/BlockUser': someone,
  'qim.v1.ModerationService/UnblockUser': someone,
  'qim.v1.ModerationService/ListBlocked': nothing,
  'qim.v1.ModerationService/ReportMessage': ofMessage,
  'qim.v1.AdminService/MintToken': someone,
  'qim.v1.AdminService/CreateConversation': () => ({ conversationId: 'chosen', ownerUserId: 'someone' }),
  'qim.v1.AdminService/SendMessage': (scene) => ({
    ...inConversation(scene),
    clientMessageId: randomUUID(),
    type: 'MESSAGE_TYPE_TEXT',
    text: 'from the backend',
  }),
  'qim.v1.AdminService/SetProfile': someone,
  'qim.v1.AdminService/SuspendUser': someone,
  'qim.v1.AdminService/DeleteUser': someone,
  'qim.v1.AdminService/ListConversationsOf': someone,
  'qim.v1.AdminService/ListReports': nothing,
  'qim.v1.AdminService/GetLimits': nothing,
  'qim.v1.AdminService/GetStats': nothing,
};
