/** What the client's calls take. */
import type { HistoryVisibility, ReplyTo, Role } from './types.js';

export type OutgoingContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'data'; readonly contentType: string; readonly data: Uint8Array }
  /** A Control message of the application's own. */
  | { readonly kind: 'app'; readonly appType: string; readonly appData: Uint8Array };

/** One of the two; a direct conversation is made on first use. */
export type SendTarget = { readonly conversationId: string } | { readonly toUserId: string };

export interface SendMessageInput {
  readonly target: SendTarget;
  /** A string is text. */
  readonly content: string | OutgoingContent;
  /** Absent: Text for text, Custom for data, Control for app. */
  readonly type?: number;
  readonly mentionUserIds?: readonly string[];
  readonly mentionAll?: boolean;
  readonly replyTo?: ReplyTo;
  /** The newest that the sender had on screen; the read mark is raised to it after the commit. */
  readonly readConversationSeq?: number;
  /** The idempotency key, 1..64 bytes; absent: made here, once. */
  readonly clientMessageId?: string;
}

/** A message named by its place and its id, which must agree. Any Message is one. */
export interface MessageRef {
  readonly conversationId: string;
  readonly conversationSeq: number;
  readonly messageId: string;
}

export interface EditMessageInput extends MessageRef {
  readonly content: string | { readonly kind: 'data'; readonly contentType: string; readonly data: Uint8Array };
  /** An edit replaces both; absent: none. */
  readonly mentionUserIds?: readonly string[];
  readonly mentionAll?: boolean;
}

export interface ReadHistoryInput {
  readonly conversationId: string;
  /** What follows this sequence; 0: from the first. Not together with `beforeSeq`; neither: the newest. */
  readonly afterSeq?: number;
  readonly beforeSeq?: number;
  /** 1..200; absent: 50. */
  readonly limit?: number;
}

export interface CreateGroupInput {
  readonly title: string;
  /** Beside the caller, who becomes the owner; at most 200. */
  readonly memberIds: readonly string[];
  /** Absent: fromJoining. */
  readonly historyVisibility?: HistoryVisibility;
  readonly onlyAdminsPost?: boolean;
  /** Absent: members do not see how far each other have read. */
  readonly readReceipts?: boolean;
}

export interface CatchUpInput {
  readonly conversationId: string;
  /** Of what is held. */
  readonly epoch: number;
  /** What there is up to here is held. */
  readonly afterSeq: number;
  /** What is held shows the amendments up to this one. */
  readonly amendmentCursor: number;
  /** Of new and of amended messages, 1..200. */
  readonly limit: number;
}

/** What is absent stays as it is. */
export interface ConversationFlagsInput {
  /** At most 50 may be; they come first in the list. */
  readonly pinned?: boolean;
  /** Left out of the totals. */
  readonly muted?: boolean;
  /** Not listed until a new message comes. */
  readonly hidden?: boolean;
  /** Shown as unread on every device, until it is read. The read mark stays where it is. */
  readonly markedUnread?: boolean;
}

export type AssignableRole = Exclude<Role, 'unknown'>;

/** What is absent stays as it is. */
export interface UpdateConversationInput {
  readonly title?: string;
  readonly onlyAdminsPost?: boolean;
  /** For those who join from then on. */
  readonly historyVisibility?: HistoryVisibility;
  readonly readReceipts?: boolean;
}

export interface ProfileInput {
  readonly displayName: string;
  /** Absent: none. */
  readonly avatarUrl?: string;
}

export interface ReportInput extends MessageRef {
  readonly comment?: string;
}
