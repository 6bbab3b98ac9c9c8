/**
 * The read side, in domain values: the conversation list, heads, unread, read marks, history. Everything is read from the
 * canonical records at each call; it knows no stored form, and keeps nothing.
 */
import type { Caller, ConversationId, ConversationSeq, DeviceId, Message, MessageId, Role, UserId } from '@qim/proto';
import type {
  ConversationFlags,
  ConversationListing,
  ConversationSummary,
  CountEvidence,
  DamageError,
  FlagsChange,
  MemberEntry,
  Preview,
  Report,
  StoredProfile,
  WebPushSubscription,
} from '@qim/store';

/** Where a count comes from; only when it was asked for. */
export interface Explanation extends CountEvidence {
  readonly readConversationSeq: ConversationSeq;
  readonly unreadFloor: ConversationSeq;
  readonly headConversationSeq: ConversationSeq;
}

interface ConversationCommon {
  readonly conversationId: ConversationId;
  readonly flags: ConversationFlags;
}

/** Numbers and all. */
export interface SoundConversation extends ConversationCommon {
  readonly damaged: undefined;
  readonly summary: ConversationSummary;
  readonly readConversationSeq: ConversationSeq;
  readonly listing: Pick<ConversationListing, 'kind' | 'title' | 'settings' | 'epoch' | 'amendmentNumber' | 'watermarkAhead'>;
  /** The other one of a direct conversation (oneself in a note to self); undefined for a group. */
  readonly peerUserId: UserId | undefined;
  readonly role: Role;
  /** Undefined: there is none, or the caller may not see it. */
  readonly preview: Preview | undefined;
  readonly previewDamage: DamageError | undefined;
  readonly explanation: Explanation | undefined;
}

/** No number of any kind: a damaged conversation cannot be taken for a quiet one. */
export interface DamagedConversation extends ConversationCommon {
  readonly damaged: DamageError;
  readonly listing: Pick<ConversationListing, 'kind' | 'title' | 'settings' | 'epoch'> | undefined;
  readonly peerUserId: UserId | undefined;
  readonly role: Role | undefined;
}

export type ListedConversation = SoundConversation | DamagedConversation;

export interface ListPage {
  readonly conversations: readonly ListedConversation[];
  readonly nextPageToken: string;
  readonly damagedCount: number;
}

export interface HistoryInput {
  readonly conversationId: ConversationId;
  readonly position: { readonly after: ConversationSeq } | { readonly before: ConversationSeq } | 'newest';
  /** 0: the default. */
  readonly limit: number;
}

export interface HistoryOutput {
  readonly messages: readonly Message[];
  readonly hasMore: boolean;
  readonly epoch: number;
}

export interface CatchUpInput {
  readonly conversationId: ConversationId;
  /** Of what the device holds; 0: it holds nothing. */
  readonly epoch: number;
  /** The device holds what there is up to here. */
  readonly after: ConversationSeq;
  /** From the answer before, or from the list that was read before what is held. */
  readonly amendmentCursor: number;
  /** 0: the default; of each of the two lists. */
  readonly limit: number;
}

/** `reset`: drop what is held of this conversation and begin anew. */
export type CatchUpOutput =
  | { readonly reset: true; readonly epoch: number }
  | {
      readonly reset: false;
      /** New ones, ascending. */
      readonly messages: readonly Message[];
      /** The present state of older ones. */
      readonly amended: readonly Message[];
      readonly hasMore: boolean;
      readonly nextAfter: ConversationSeq;
      readonly nextAmendmentCursor: number;
      readonly epoch: number;
    };

export interface ListedMember extends MemberEntry {
  readonly userId: UserId;
}

/** Empty texts: none. */
export type ProfileInput = StoredProfile;

export interface Profile extends StoredProfile {
  readonly userId: UserId;
}

/** A message named by its place and its id, which must agree. */
export interface MessageRef {
  readonly conversationId: ConversationId;
  readonly conversationSeq: ConversationSeq;
  readonly messageId: MessageId;
}

export interface ReadMark {
  readonly conversationId: ConversationId;
  readonly conversationSeq: ConversationSeq;
}

/** Of all conversations that are not muted. */
export interface Totals {
  /** With unread messages, or marked unread. */
  readonly unreadConversations: number;
  readonly unreadCount: number;
  readonly mentionCount: number;
  /** False: there are more conversations than were counted, a count is not exact, or a conversation is damaged. */
  readonly exact: boolean;
}

export type WebPushInput = Omit<WebPushSubscription, 'deviceId'>;

export interface Session {
  /** `pageSize` 0: the default; `pageToken` '': from the top. @throws InvalidArgument (pageSize, pageToken) */
  listConversations(caller: Caller, input: { pageSize: number; pageToken: string; explain: boolean }): Promise<ListPage>;
  /** Also answers for a damaged one. @throws NotMember */
  getConversation(caller: Caller, conversationId: ConversationId, explain: boolean): Promise<ListedConversation>;
  /** What now holds: max(read, min(asked, head)). @throws NotMember | CorruptRecord */
  markRead(caller: Caller, conversationId: ConversationId, readConversationSeq: ConversationSeq): Promise<ConversationSeq>;
  /**
   * The same for several. What now holds of each, in their order; damaged ones are left out. Nothing is raised when the
   * caller is not a member of one of them. @throws NotMember | InvalidArgument (upTo)
   */
  markAllRead(caller: Caller, upTo: readonly ReadMark[]): Promise<readonly ReadMark[]>;
  getTotals(caller: Caller): Promise<Totals>;
  /** Absent flags stay as they are. @throws NotMember | InvalidArgument (hidden) | ResourceLimit (pins) | CorruptRecord */
  setConversationFlags(caller: Caller, conversationId: ConversationId, change: FlagsChange): Promise<ListedConversation>;
  /** @throws NotMember | InvalidArgument (limit) | CorruptRecord */
  readHistory(caller: Caller, input: HistoryInput): Promise<HistoryOutput>;
  /** @throws NotMember | InvalidArgument (limit) | CorruptRecord */
  catchUp(caller: Caller, input: CatchUpInput): Promise<CatchUpOutput>;
  /** Up to min(asked, head), and never less than before. @throws NotMember | CorruptRecord */
  clearHistory(caller: Caller, conversationId: ConversationId, upToSeq: ConversationSeq): Promise<void>;
  /** @throws InvalidArgument | PayloadTooLarge (displayName, avatarUrl) */
  setProfile(caller: Caller, profile: ProfileInput): Promise<Profile>;
  /** One for each id of the caller's tenant, in their order; empty where none was set. @throws InvalidArgument (userIds) */
  getProfiles(caller: Caller, userIds: readonly UserId[]): Promise<readonly Profile[]>;
  /** @throws InvalidArgument (userId) | ResourceLimit */
  blockUser(caller: Caller, userId: UserId): Promise<void>;
  unblockUser(caller: Caller, userId: UserId): Promise<void>;
  /** @throws InvalidArgument (pageToken) */
  listBlocked(caller: Caller, pageToken: string): Promise<{ readonly userIds: readonly UserId[]; readonly nextPageToken: string }>;
  /** In base64url; undefined: no Web Push is sent. */
  webPushKey(): string | undefined;
  /** @throws Unimplemented | InvalidArgument | PayloadTooLarge (endpoint, p256dh, auth) | ResourceLimit */
  registerWebPush(caller: Caller, subscription: WebPushInput): Promise<void>;
  /** @throws Unimplemented */
  unregisterWebPush(caller: Caller, endpoint: string): Promise<void>;
  /** To the other members; a hint, and left out where there is too much of it. @throws NotMember | CorruptRecord */
  setTyping(caller: Caller, conversationId: ConversationId, on: boolean): Promise<void>;
  /** For admins of the caller's tenant. `deviceId` undefined: the whole user. @throws ResourceLimit */
  suspendUser(caller: Caller, userId: UserId, deviceId: DeviceId | undefined, suspended: boolean): Promise<void>;
  /** @throws NotMember | NotFound | PayloadTooLarge (comment) | CorruptRecord */
  reportMessage(caller: Caller, ref: MessageRef, comment: string): Promise<Report>;
  /** Of the caller's tenant, the newest first. @throws InvalidArgument (pageSize) */
  listReports(caller: Caller, pageSize: number): Promise<readonly Report[]>;
  /** By user id, MEMBERS_PAGE_SIZE a page. @throws NotMember | InvalidArgument (pageToken) */
  listMembers(
    caller: Caller,
    conversationId: ConversationId,
    pageToken: string,
  ): Promise<{ readonly members: readonly ListedMember[]; readonly nextPageToken: string }>;
  /** How far the others have read, as far as read receipts tell the caller; of nobody else. @throws NotMember | CorruptRecord */
  othersRead(caller: Caller, conversationId: ConversationId): Promise<ReadonlyMap<UserId, ConversationSeq>>;
}
