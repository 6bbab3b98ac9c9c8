/** What `conversationSummaries` answers (seed, section 3), and what the same two rounds yield besides. */
import type {
  ActivityId,
  ConversationId,
  ConversationKind,
  ConversationSeq,
  ConversationSettings,
  MessageId,
  Preview,
  Role,
  UserId,
} from '@qim/proto';
import type { DamageError } from '../errors.js';

export type { Preview } from '@qim/proto';

/** One entry of the caller's page: counting starts after `watermark` (the session service passes the unread floor). */
export interface ConversationState {
  readonly conversationId: ConversationId;
  readonly watermark: ConversationSeq;
}

/** The seed's six fields, and mentionCount. */
export interface ConversationSummary {
  readonly conversationId: ConversationId;
  /** Of the newest canonical record, whatever its type; 0: no message yet. */
  readonly latestConversationSeq: ConversationSeq;
  /** Absent exactly when there is no message yet. */
  readonly lastActivityId: ActivityId | undefined;
  /** Absent exactly when there is no message yet. */
  readonly lastMessageId: MessageId | undefined;
  /** 0..EXACT_UNREAD_SCAN_LIMIT. */
  readonly unreadCount: number;
  /** False: the distance was past the limit (then unreadCount is the limit), or the watermark is past the head (then 0). */
  readonly unreadExact: boolean;
  /** Of the counted messages, those that mention the user or all; absent when the count is not exact. */
  readonly mentionCount: number | undefined;
}

export interface MemberEntry {
  readonly role: Role;
  /** Sequence of the join's Control record; 1 for a direct conversation's two. Unread counting starts no earlier. */
  readonly joinedSeq: ConversationSeq;
  /** The first sequence that the member may see: joinedSeq, or 1 where the conversation shows its past. */
  readonly visibleFrom: ConversationSeq;
}

/** The second result of the two rounds; nothing in it can disturb the summary. */
export interface ConversationListing {
  readonly kind: ConversationKind;
  readonly title: string;
  readonly settings: ConversationSettings;
  /** The two users of a direct conversation (one for a note to oneself); empty for a group. */
  readonly pair: readonly UserId[];
  readonly epoch: number;
  /** The number of the newest amendment, read before any record of this answer. */
  readonly amendmentNumber: number;
  /** The newest message that is not Control; undefined: none. Whether the caller may see it is the caller's to check. */
  readonly preview: Preview | undefined;
  /** The preview's record could not be read; the counts stand. */
  readonly previewDamage: DamageError | undefined;
  /** Read after the data. Undefined: the user is not a member (`notMember`), and the entry must be dropped. */
  readonly member: MemberEntry | undefined;
  /** The watermark is past the head, as in a store that was restored. */
  readonly watermarkAhead: boolean;
}

/** Where a count comes from. */
export interface CountEvidence {
  /** Records of the window that were read and checked, 0..EXACT_UNREAD_SCAN_LIMIT; the head beside it is not among them. */
  readonly scanned: number;
  readonly own: number;
  readonly control: number;
  readonly recalled: number;
  readonly deleted: number;
  /** The window's records were linked down to the watermark; false also when there was no window to read. */
  readonly chainUnbroken: boolean;
}

export type ConversationReading =
  | {
      readonly kind: 'sound';
      readonly summary: ConversationSummary;
      readonly listing: ConversationListing;
      readonly evidence: CountEvidence;
    }
  | {
      readonly kind: 'damaged';
      readonly conversationId: ConversationId;
      readonly error: DamageError;
      /** What of the facts could be read; undefined: nothing. Never holds a count. */
      readonly listing: Pick<ConversationListing, 'kind' | 'title' | 'settings' | 'pair' | 'epoch'> | undefined;
      /** Undefined: not a member, or the member entry itself is damaged (then `memberKnown` is false). */
      readonly member: MemberEntry | undefined;
      readonly memberKnown: boolean;
    };
