/**
 * Every value that the SDK hands out or takes. Sequences are `number` and ids plain strings; nothing of the generated
 * schema shows. Values are never changed once handed out: a change is a new object.
 */

/** A number that MessageType does not name is kept as it is, and counts as unread. */
export type MessageTypeNumber = number;
/** `unknown`: a newer server's. */
export type MessageStatus = 'normal' | 'edited' | 'recalled' | 'deleted' | 'unknown';
export type ConversationKind = 'direct' | 'group' | 'unknown';
export type Role = 'member' | 'admin' | 'owner' | 'unknown';
export type HistoryVisibility = 'fromJoining' | 'all';
/** What an acknowledged send survives: `synced` power loss, `everysec` a crash but for its last second, `memory` nothing. */
export type AckDurability = 'synced' | 'everysec' | 'memory' | 'unknown';

export interface ConversationSettings {
  readonly historyVisibility: HistoryVisibility;
  readonly onlyAdminsPost: boolean;
  /** Members see how far each other have read. */
  readonly readReceipts: boolean;
}

/** What a Control message says; `unknown` is a newer server's kind. */
export type Control =
  | { readonly kind: 'created'; readonly title: string; readonly userIds: readonly string[] }
  | { readonly kind: 'joined' | 'left' | 'removed'; readonly userIds: readonly string[] }
  | { readonly kind: 'title'; readonly title: string }
  | { readonly kind: 'role'; readonly userIds: readonly string[]; readonly role: Role }
  | { readonly kind: 'settings'; readonly settings: ConversationSettings }
  | { readonly kind: 'app'; readonly appType: string; readonly appData: Uint8Array }
  | { readonly kind: 'unknown'; readonly number: number };

export type MessageContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'data'; readonly contentType: string; readonly data: Uint8Array }
  | { readonly kind: 'control'; readonly control: Control }
  /** Erased by a recall or a delete. */
  | { readonly kind: 'none' };

export interface ReplyTo {
  readonly conversationSeq: number;
  readonly messageId: string;
}

/** One emoji on a message, and who set it. */
export interface Reaction {
  readonly emoji: string;
  readonly userIds: readonly string[];
}

export interface Message {
  /** Never changes. */
  readonly messageId: string;
  readonly conversationId: string;
  /** Another epoch: sequences may not go on from what was held. */
  readonly epoch: number;
  /** 1..2^53-1, strictly increasing; holes are legal: the difference of two is no count of messages. */
  readonly conversationSeq: number;
  /** Changes whenever the message changes. */
  readonly activityId: string;
  readonly senderUserId: string;
  /** '' when the sender's token named none. */
  readonly senderDeviceId: string;
  readonly clientMessageId: string;
  readonly type: MessageTypeNumber;
  readonly status: MessageStatus;
  /** 0 at commit, one more with each amendment. */
  readonly revision: number;
  /** Unix milliseconds by the server. For display; order is by conversationSeq. */
  readonly committedAtMs: number;
  /** Unix milliseconds; 0: never amended. */
  readonly amendedAtMs: number;
  readonly mentionUserIds: readonly string[];
  readonly mentionAll: boolean;
  readonly replyTo: ReplyTo | undefined;
  /**
   * Of what `replyTo` names: as it was when history was read, and without its text once it was heard that it was recalled or
   * deleted. Undefined as well: it is gone, the caller may not see it, or the message has not come from history yet.
   */
  readonly replyPreview: Preview | undefined;
  readonly content: MessageContent;
  /** The first one first; none once the content was erased. */
  readonly reactions: readonly Reaction[];
  /** One more with each change of the reactions, which leaves `revision` and `activityId` as they are. */
  readonly reactionsRevision: number;
}

/** What a line of text shows of a message; in a list the newest one that is not Control. */
export interface Preview {
  readonly messageId: string;
  readonly conversationSeq: number;
  readonly type: MessageTypeNumber;
  readonly status: MessageStatus;
  readonly senderUserId: string;
  /** The beginning of the text, or the content type; '' when recalled or deleted. */
  readonly snippet: string;
  /** The snippet is not the whole text. */
  readonly truncated: boolean;
  readonly committedAtMs: number;
}

/** What could not be read. */
export interface Damage {
  /** CORRUPT_RECORD or UNSUPPORTED_VERSION. */
  readonly reason: string;
  /** 0: not at one record. */
  readonly conversationSeq: number;
  /** A stable word for what was wrong, such as recordMissing. */
  readonly what: string;
}

export interface ConversationFlags {
  readonly pinned: boolean;
  readonly muted: boolean;
  readonly hidden: boolean;
  readonly markedUnread: boolean;
}

/** What sound and damaged ones have. */
export interface ConversationCommon {
  readonly conversationId: string;
  readonly kind: ConversationKind;
  /** '' for a direct one. */
  readonly title: string;
  /** The other one of a direct conversation, oneself in a note to self; undefined for a group. */
  readonly peerUserId: string | undefined;
  /** Undefined: there is none, or the caller may not see it. */
  readonly preview: Preview | undefined;
  /** The preview's record is damaged; the counts are not. */
  readonly previewDamaged: Damage | undefined;
  readonly flags: ConversationFlags;
  readonly settings: ConversationSettings;
  /** The caller's own. */
  readonly role: Role;
  readonly epoch: number;
}

/** Numbers and all. They are what the server said; the SDK never counts. */
export interface SoundConversation extends ConversationCommon {
  readonly damaged: undefined;
  /** 0: no message yet. */
  readonly latestConversationSeq: number;
  /** Undefined: no message yet. */
  readonly lastActivityId: string | undefined;
  readonly lastMessageId: string | undefined;
  readonly readConversationSeq: number;
  readonly unreadCount: number;
  /** False: at least `unreadCount`. `unreadLabel` shows it as '200+'. */
  readonly unreadExact: boolean;
  /** Undefined when the count is not exact. */
  readonly mentionCount: number | undefined;
  readonly amendmentCursor: number;
  /** The read mark is past the newest message, as in a store that was restored. */
  readonly watermarkAhead: boolean;
}

/** No number of any kind: a damaged conversation cannot be taken for a quiet one. */
export interface DamagedConversation extends ConversationCommon {
  readonly damaged: Damage;
}

export type Conversation = SoundConversation | DamagedConversation;

export interface ConversationPage {
  /** By activity, newest first. */
  readonly conversations: readonly Conversation[];
  /** '': this was the last page. */
  readonly nextPageToken: string;
  readonly damagedCount: number;
}

export interface HistoryPage {
  /** Ascending. */
  readonly messages: readonly Message[];
  /** There are more in the direction that was asked for. */
  readonly hasMore: boolean;
  readonly epoch: number;
}

/** reset: what is held is of another epoch, or not there any more; drop it and begin anew. */
export type CatchUpPage =
  | { readonly reset: true }
  | (HistoryPage & {
      readonly reset: false;
      /** The present state of held ones that were amended. */
      readonly amended: readonly Message[];
      readonly nextAfterSeq: number;
      readonly nextAmendmentCursor: number;
    });

export interface Member {
  readonly userId: string;
  readonly role: Role;
  readonly joinedSeq: number;
}

export interface MemberPage {
  readonly members: readonly Member[];
  /** '': this was the last page. */
  readonly nextPageToken: string;
}

/** What of a conversation was read, up to and including this sequence. */
export interface ReadMark {
  readonly conversationId: string;
  readonly conversationSeq: number;
}

/** Over all of the user's conversations, muted ones left out; by the server. */
export interface Totals {
  readonly unreadConversations: number;
  readonly unreadCount: number;
  readonly mentionCount: number;
  /** False: at least as many. */
  readonly exact: boolean;
}

export interface Profile {
  readonly userId: string;
  /** '' when none was set. */
  readonly displayName: string;
  readonly avatarUrl: string;
}

export interface BlockedPage {
  readonly userIds: readonly string[];
  /** '': this was the last page. */
  readonly nextPageToken: string;
}

/** Who this connection speaks as. */
export interface Identity {
  readonly userId: string;
  readonly tenant: number;
  /** '' when there is none. */
  readonly deviceId: string;
  readonly ackDurability: AckDurability;
}
