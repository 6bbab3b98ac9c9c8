/**
 * Who may call what: the one table of authorisation, from the qim.v1 method to the relation that it needs.
 *
 * Where it is enforced: `admin` tokens in the gateway, before the call; membership on the read side by the member entry
 * that was read with the data; membership and role on the write side inside the commit or amend step. A test calls every
 * method with every relation and compares.
 */

/**
 * signedIn: any valid token. member: of the conversation that the request names. poster: a member who may send under the
 * conversation's settings, or anyone opening a direct one. author: the member who sent the message. authorOrAdmin: that
 * one, or an admin or owner of the conversation. admin, owner: at least that role. adminToken: the claim `admin: true`.
 */
export type Requirement = 'signedIn' | 'member' | 'poster' | 'author' | 'authorOrAdmin' | 'admin' | 'owner' | 'adminToken';

export const METHOD_ACCESS = {
  'qim.v1.MessageService/SendMessage': 'poster',
  'qim.v1.MessageService/EditMessage': 'author',
  'qim.v1.MessageService/RecallMessage': 'authorOrAdmin',
  'qim.v1.MessageService/DeleteMessage': 'admin',
  'qim.v1.MessageService/SetReaction': 'member',
  'qim.v1.SessionService/ListConversations': 'signedIn',
  'qim.v1.SessionService/GetConversation': 'member',
  'qim.v1.SessionService/MarkRead': 'member',
  'qim.v1.SessionService/MarkAllRead': 'member',
  'qim.v1.SessionService/GetTotals': 'signedIn',
  'qim.v1.SessionService/ReadHistory': 'member',
  'qim.v1.SessionService/CatchUp': 'member',
  'qim.v1.SessionService/ClearHistory': 'member',
  'qim.v1.SessionService/SetConversationFlags': 'member',
  'qim.v1.ConversationService/CreateGroup': 'signedIn',
  'qim.v1.ConversationService/AddMembers': 'admin',
  'qim.v1.ConversationService/RemoveMember': 'admin',
  'qim.v1.ConversationService/LeaveGroup': 'member',
  'qim.v1.ConversationService/SetRole': 'owner',
  'qim.v1.ConversationService/UpdateConversation': 'admin',
  'qim.v1.ConversationService/ListMembers': 'member',
  'qim.v1.ProfileService/SetProfile': 'signedIn',
  'qim.v1.ProfileService/GetProfiles': 'signedIn',
  'qim.v1.PushService/GetWebPushKey': 'signedIn',
  'qim.v1.PushService/RegisterWebPush': 'signedIn',
  'qim.v1.PushService/UnregisterWebPush': 'signedIn',
  'qim.v1.EventService/Subscribe': 'signedIn',
  'qim.v1.EventService/SetTyping': 'member',
  'qim.v1.ModerationService/BlockUser': 'signedIn',
  'qim.v1.ModerationService/UnblockUser': 'signedIn',
  'qim.v1.ModerationService/ListBlocked': 'signedIn',
  'qim.v1.ModerationService/ReportMessage': 'member',
  'qim.v1.AdminService/MintToken': 'adminToken',
  'qim.v1.AdminService/CreateConversation': 'adminToken',
  'qim.v1.AdminService/SendMessage': 'adminToken',
  'qim.v1.AdminService/SetProfile': 'adminToken',
  'qim.v1.AdminService/SuspendUser': 'adminToken',
  'qim.v1.AdminService/DeleteUser': 'adminToken',
  'qim.v1.AdminService/ListConversationsOf': 'adminToken',
  'qim.v1.AdminService/ListReports': 'adminToken',
  'qim.v1.AdminService/GetLimits': 'adminToken',
  'qim.v1.AdminService/GetStats': 'adminToken',
} as const satisfies Record<string, Requirement>;

export type MethodName = keyof typeof METHOD_ACCESS;

/** What the schema names and this version does not answer yet (`unimplemented`). */
export const UNBUILT_METHODS: ReadonlySet<MethodName> = new Set<MethodName>([]);

/** What admins and moderators do: each call leaves a line in the audit log, and so does whoever acts for a user. */
export const AUDITED: ReadonlySet<MethodName> = new Set<MethodName>([
  'qim.v1.MessageService/DeleteMessage',
  'qim.v1.ConversationService/RemoveMember',
  'qim.v1.ConversationService/SetRole',
  'qim.v1.ConversationService/UpdateConversation',
  'qim.v1.AdminService/MintToken',
  'qim.v1.AdminService/CreateConversation',
  'qim.v1.AdminService/SendMessage',
  'qim.v1.AdminService/SetProfile',
  'qim.v1.AdminService/SuspendUser',
  'qim.v1.AdminService/DeleteUser',
  'qim.v1.AdminService/ListConversationsOf',
  'qim.v1.AdminService/ListReports',
  'qim.v1.AdminService/GetLimits',
  'qim.v1.AdminService/GetStats',
]);

/**
 * What reaches others or grows the store, and so counts as sent (--send-rates, --tenant-quotas), whether it succeeds or not.
 * Reads and what changes the caller's own view alone do not.
 */
export const RATE_COUNTED: ReadonlySet<MethodName> = new Set<MethodName>([
  'qim.v1.MessageService/SendMessage',
  'qim.v1.MessageService/EditMessage',
  'qim.v1.MessageService/RecallMessage',
  'qim.v1.MessageService/DeleteMessage',
  'qim.v1.MessageService/SetReaction',
  'qim.v1.ConversationService/CreateGroup',
  'qim.v1.ConversationService/AddMembers',
  'qim.v1.ConversationService/RemoveMember',
  'qim.v1.ConversationService/LeaveGroup',
  'qim.v1.ConversationService/SetRole',
  'qim.v1.ConversationService/UpdateConversation',
  'qim.v1.ProfileService/SetProfile',
  'qim.v1.PushService/RegisterWebPush',
  'qim.v1.ModerationService/ReportMessage',
  'qim.v1.AdminService/CreateConversation',
  'qim.v1.AdminService/SendMessage',
]);
