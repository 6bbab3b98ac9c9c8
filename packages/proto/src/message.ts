/**
 * Domain values that the write, read and delivery side share. Numbers are those of the qim.v1 schema.
 */
import type { ActivityId, ClientMessageId, ConversationId, ConversationSeq, DeviceId, MessageId, TenantId, UserId } from './ids.js';

/** Open: any other number 1..2^31-1 is kept as it is and counts as unread. 0 is refused. */
export const MessageType = {
  Text: 1,
  Image: 2,
  File: 3,
  Audio: 4,
  Video: 5,
  Location: 6,
  Card: 7,
  Custom: 8,
  Control: 9,
} as const;
export type MessageType = number;

/** Closed: an unknown status in a stored record is damage. */
export const MessageStatus = { Normal: 1, Edited: 2, Recalled: 3, Deleted: 4 } as const;
export type MessageStatus = (typeof MessageStatus)[keyof typeof MessageStatus];

/** A client may send App only. */
export const ControlKind = {
  Created: 1,
  Joined: 2,
  Left: 3,
  Removed: 4,
  Title: 5,
  Role: 6,
  Settings: 7,
  App: 100,
} as const;
export type ControlKind = (typeof ControlKind)[keyof typeof ControlKind];

export const ConversationKind = { Direct: 1, Group: 2 } as const;
export type ConversationKind = (typeof ConversationKind)[keyof typeof ConversationKind];

/** Ordered: a larger role may do what a smaller one may. */
export const Role = { Member: 1, Admin: 2, Owner: 3 } as const;
export type Role = (typeof Role)[keyof typeof Role];

export const HistoryVisibility = { FromJoining: 1, All: 2 } as const;
export type HistoryVisibility = (typeof HistoryVisibility)[keyof typeof HistoryVisibility];

export interface ConversationSettings {
  readonly historyVisibility: HistoryVisibility;
  /** Only admins and the owner may send. */
  readonly onlyAdminsPost: boolean;
  /** Members see how far each other have read. Absent: false. */
  readonly readReceipts?: boolean;
}

export type Control =
  | { readonly kind: typeof ControlKind.Created; readonly title: string; readonly userIds: readonly UserId[] }
  | {
      readonly kind: typeof ControlKind.Joined | typeof ControlKind.Left | typeof ControlKind.Removed;
      readonly userIds: readonly UserId[];
    }
  | { readonly kind: typeof ControlKind.Title; readonly title: string }
  | { readonly kind: typeof ControlKind.Role; readonly userIds: readonly UserId[]; readonly role: Role }
  | { readonly kind: typeof ControlKind.Settings; readonly settings: ConversationSettings }
  | { readonly kind: typeof ControlKind.App; readonly appType: string; readonly appData: Uint8Array };

export type MessageContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'data'; readonly contentType: string; readonly data: Uint8Array }
  | { readonly kind: 'control'; readonly control: Control }
  /** Erased by a recall or a delete. */
  | { readonly kind: 'none' };

export interface ReplyTo {
  readonly conversationSeq: ConversationSeq;
  readonly messageId: MessageId;
}

export interface Mentions {
  /** At most MENTIONS_MAX, without repeats. */
  readonly userIds: readonly UserId[];
  readonly all: boolean;
}

/** A canonical record as every reader sees it. Nothing in it depends on who reads. */
export interface MessageRecord {
  readonly tenantId: TenantId;
  readonly conversationId: ConversationId;
  readonly conversationSeq: ConversationSeq;
  /** Sequence of the record before this one; 0 for the first. Records form a chain. */
  readonly prevSequence: ConversationSeq;
  readonly messageId: MessageId;
  readonly activityId: ActivityId;
  /** `deviceId` is absent when the sender's token named none. */
  readonly sender: { readonly userId: UserId; readonly deviceId: DeviceId | undefined };
  readonly clientMessageId: ClientMessageId;
  readonly type: MessageType;
  readonly status: MessageStatus;
  /** 0 at commit, one more with each amendment; 0..2^31-1. */
  readonly revision: number;
  /** Unix milliseconds by the store's clock; never goes back within a conversation. */
  readonly committedAtMs: number;
  /** Unix milliseconds; 0: never amended. */
  readonly amendedAtMs: number;
  readonly mentions: Mentions;
  readonly replyTo: ReplyTo | undefined;
  readonly content: MessageContent;
}

/** What a line of text shows of a message. */
export interface Preview {
  readonly messageId: MessageId;
  readonly conversationSeq: ConversationSeq;
  readonly type: MessageType;
  readonly status: MessageStatus;
  readonly senderUserId: UserId;
  /** At most SNIPPET_BYTES_MAX bytes of the text on a character boundary, or the content type; empty when erased. */
  readonly snippet: string;
  readonly truncated: boolean;
  readonly committedAtMs: number;
}

/** One emoji, and who set it, the first one first. */
export interface Reaction {
  readonly emoji: string;
  /** 1..REACTION_USERS_MAX. */
  readonly userIds: readonly UserId[];
}

/** What is set on one message; beside its record, which a reaction leaves as it is. */
export interface Reactions {
  /** One more with each change; of two states of one revision of a message the greater one is the later. */
  readonly revision: number;
  /** 0..REACTION_KINDS_MAX, the first one first. */
  readonly kinds: readonly Reaction[];
}

/** A record with the conversation's epoch at the time it was read: what leaves qim as a `message`. */
export interface Message {
  readonly record: MessageRecord;
  readonly epoch: number;
  /** Absent: nobody ever reacted, or the content was erased. */
  readonly reactions?: Reactions | undefined;
  /**
   * Of the message that replyTo names, as it was when this was read: in history and catch-up alone, and only where the reader
   * may see that message.
   */
  readonly replyPreview?: Preview | undefined;
}

/** Who calls: made by the gateway from a checked token, and by nothing else. */
export interface Caller {
  readonly tenantId: TenantId;
  readonly userId: UserId;
  readonly deviceId: DeviceId | undefined;
  /** The token has the claim `admin: true`. */
  readonly admin: boolean;
}

/** What an acknowledged commit survives: `synced` power loss, `everysec` a crash but for its last second, `memory` nothing. */
export type AckDurability = 'synced' | 'everysec' | 'memory';

/** Told after a read mark rose, so that the user's other devices learn it. Must not throw; loses nothing when it is lost. */
export type AnnounceRead = (
  tenantId: TenantId,
  userId: UserId,
  conversationId: ConversationId,
  readConversationSeq: ConversationSeq,
) => void;
