/**
 * The canonical history of all conversations: the only source of heads, counts, previews, replay and push.
 *
 * Implementations: `./redis`, `./embedded`, `./memory` (the reference model). All pass the suites of `./testing`.
 * Costs are in round trips to the store. Every method may throw `StoreUnavailable`; other codes are named.
 */
import type {
  ActivityId,
  ClientMessageId,
  ConversationId,
  ConversationKind,
  ConversationSeq,
  ConversationSettings,
  DeviceId,
  Mentions,
  Message,
  MessageContent,
  MessageId,
  MessageRecord,
  MessageStatus,
  MessageType,
  Preview,
  Reactions,
  ReplyTo,
  Role,
  TenantId,
  UserId,
} from '@qim/proto';
import type { ConversationReading, ConversationState, ConversationSummary, MemberEntry } from './summary.js';

/**
 * A conversation that is made in the step of its first record. All members get visibleFrom 1, and as joinedSeq the sequence
 * of that record: 1, unless another server took the writes before, which may have made it already.
 */
export interface NewConversation {
  readonly kind: ConversationKind;
  /** Empty for a direct conversation. */
  readonly title: string;
  readonly settings: ConversationSettings;
  /** The sender included. 1..MEMBERS_PER_CALL_MAX + 1. */
  readonly members: readonly { readonly userId: UserId; readonly role: Role }[];
}

/**
 * What the step changes in the membership beside writing its Control record. Its preconditions are checked inside the
 * step; when one fails the commit is refused with `Aborted`: the caller reads the membership again, and decides again.
 */
export type MembershipChange =
  /** None of them is a member. joinedSeq is the record's own sequence; visibleFrom that, or 1 by the settings. */
  | { readonly kind: 'join'; readonly userIds: readonly UserId[] }
  /**
   * They are members with a role below the sender's, or the sender. When an owner leaves, another one stays, or nobody.
   */
  | { readonly kind: 'leave'; readonly userIds: readonly UserId[] }
  /** As for leave; when an owner steps down, another one stays. joinedSeq and visibleFrom are kept. */
  | { readonly kind: 'role'; readonly userIds: readonly UserId[]; readonly role: Role };

/** What the step changes in the facts beside writing its Control record. */
export type FactsChange =
  | { readonly kind: 'title'; readonly title: string }
  /** The settings are still `before`; else refused with `Aborted`. */
  | { readonly kind: 'settings'; readonly before: ConversationSettings; readonly settings: ConversationSettings };

export interface CommitRequest {
  readonly tenantId: TenantId;
  readonly conversationId: ConversationId;
  readonly sender: { readonly userId: UserId; readonly deviceId: DeviceId | undefined };
  readonly clientMessageId: ClientMessageId;
  /** Fresh UUIDv7s, two different ones. Not used when the commit turns out to be a duplicate. */
  readonly messageId: MessageId;
  readonly activityId: ActivityId;
  readonly type: MessageType;
  readonly content: MessageContent;
  readonly mentions: Mentions;
  readonly replyTo: ReplyTo | undefined;
  /**
   * Least role, checked inside the step after de-duplication: `post` is any member, or an admin where the settings say
   * onlyAdminsPost; `system` is no member and needs to be none. The maker of a new conversation is among its members, but
   * for the system, and needs no more.
   */
  readonly needs: 'post' | 'member' | 'admin' | 'owner' | 'system';
  /**
   * Makes the conversation when it has no facts. `onlyNew`: refused with `Aborted` when it exists (a group's first
   * record); otherwise ignored then (a direct conversation's first message may come from both sides at once).
   */
  readonly create?: (NewConversation & { readonly onlyNew: boolean }) | undefined;
  readonly change?: MembershipChange | FactsChange | undefined;
  /** Moves the conversation up in the sender's own list as well (Directory.touch), where one step can do both. */
  readonly touchSender?: boolean;
}

export interface CommitOutcome {
  /** True: this (sender, clientMessageId) was committed before with the same content; nothing was written now. */
  readonly duplicate: boolean;
  /** Of the first commit. */
  readonly conversationSeq: ConversationSeq;
  readonly messageId: MessageId;
  /** Of the first commit: an amendment since then has changed the record's own. */
  readonly activityId: ActivityId;
  readonly committedAtMs: number;
  /** True: this very step made the conversation. */
  readonly created: boolean;
  /** True: the sender's list was touched, as was asked for; absent: that is still to be done. */
  readonly senderTouched?: boolean;
  /** As it is now; undefined only for a duplicate whose record is gone or whose sender is no longer a member. */
  readonly message: Message | undefined;
}

export interface AmendRequest {
  readonly actor: UserId;
  /** Least role of the actor, checked inside the step. */
  readonly needs: 'member' | 'admin';
  /** The target as the caller read and judged it; the step compares its activityId. */
  readonly target: MessageRecord;
  readonly activityId: ActivityId;
  readonly status: MessageStatus;
  /** `none` for a recall or delete; then the mentions and replyTo are erased as well. */
  readonly content: MessageContent;
  readonly mentions: Mentions;
}

export interface ReactRequest {
  /** Needs to be a member. */
  readonly actor: UserId;
  /** Normal or Edited, as the caller read and judged it; the step compares its activityId. */
  readonly target: MessageRecord;
  /** 1..REACTION_EMOJI_BYTES_MAX bytes. */
  readonly emoji: string;
  /** False: takes it off. */
  readonly on: boolean;
}

/** `changed`: somebody amended it meanwhile; nothing was written. */
export type AmendOutcome = { readonly kind: 'amended'; readonly message: Message } | { readonly kind: 'changed' };

export interface HistoryQuery {
  readonly tenantId: TenantId;
  readonly userId: UserId;
  readonly conversationId: ConversationId;
  /** From the caller's view; nothing at or below it is returned. */
  readonly clearedSeq: ConversationSeq;
  /** What follows `after`, what precedes `before`, or the newest. */
  readonly position: { readonly after: ConversationSeq } | { readonly before: ConversationSeq } | 'newest';
  /** 1..HISTORY_PAGE_SIZE_MAX. */
  readonly limit: number;
}

export interface HistoryPage {
  /** Ascending; none below the member's visibleFrom or at or below clearedSeq. */
  readonly records: readonly MessageRecord[];
  /** Of those among them that have any, in their order. */
  readonly reactions: ReactionsOf;
  readonly replyPreviews: ReplyPreviews;
  /** More that the caller may see, in the direction asked for. Also true when the page ended at HISTORY_PAGE_BYTES_MAX. */
  readonly hasMore: boolean;
  readonly epoch: number;
}

/** By sequence; content counts towards a page with these. */
export type ReactionsOf = ReadonlyMap<ConversationSeq, Reactions>;

/** By the sequence of the reply: what it replies to, where the member may see that. */
export type ReplyPreviews = ReadonlyMap<ConversationSeq, Preview>;

export interface CatchUpQuery {
  readonly tenantId: TenantId;
  readonly userId: UserId;
  readonly conversationId: ConversationId;
  /** From the caller's view; nothing at or below it is returned. */
  readonly clearedSeq: ConversationSeq;
  /** Of what the caller holds; 0: it holds nothing, and is never told to begin anew. */
  readonly epoch: number;
  /** The caller holds what there is up to here. */
  readonly after: ConversationSeq;
  /** From an earlier answer or a list: what is held shows the amendments up to this number. */
  readonly amendmentCursor: number;
  /** 1..HISTORY_PAGE_SIZE_MAX; of each of the two lists. */
  readonly limit: number;
}

/**
 * reset: what the caller holds is of another epoch, or past what is there (a head or an amendment that was lost): it must
 * drop it and begin anew.
 */
export type CatchUpPage =
  | { readonly kind: 'reset'; readonly epoch: number }
  | {
      readonly kind: 'page';
      /** Past `after`, ascending; visible ones. */
      readonly records: readonly MessageRecord[];
      /** The present state of visible records at or below `after` that were amended past the cursor, by amendment number. */
      readonly amended: readonly MessageRecord[];
      /** Of those among both that have any, in their order. */
      readonly reactions: ReactionsOf;
      readonly replyPreviews: ReplyPreviews;
      /** Of either list; true as well when nothing of the amendments that were looked at was the caller's to see. */
      readonly hasMore: boolean;
      /** `after` of the next call: the last of `records`, or as it was. */
      readonly nextAfter: ConversationSeq;
      /** Read before any record of this answer. */
      readonly nextAmendmentCursor: number;
      readonly epoch: number;
    };

/** What goes: records of the beginning that either rule names. Neither: nothing does. */
export interface RetentionPolicy {
  /** Records committed before it (Unix milliseconds). */
  readonly olderThanMs: number | undefined;
  /** All but so many of the newest; 0 or more. */
  readonly keepNewest: number | undefined;
}

export interface RetentionOutcome {
  readonly removed: number;
  /** One step was not enough: call again. */
  readonly more: boolean;
}

export interface ConversationsPage {
  readonly conversations: readonly { readonly tenantId: TenantId; readonly conversationId: ConversationId }[];
  /** Undefined: this was the last. A page may be empty while more follow. */
  readonly next: string | undefined;
}

/** The facts of a conversation, and the entry of one user. */
export interface ConversationFacts {
  readonly kind: ConversationKind;
  readonly title: string;
  readonly settings: ConversationSettings;
  readonly pair: readonly UserId[];
  /** 0: no message yet. */
  readonly lastSequence: ConversationSeq;
  readonly lastCommittedAtMs: number;
  /** The first sequence that retention left; 1 when it never ran. */
  readonly retainedFrom: ConversationSeq;
  readonly amendmentNumber: number;
  readonly epoch: number;
}

export interface MessageStore {
  /**
   * Makes one message durable and visible, with everything that belongs to it, in one atomic step, once per
   * (sender, clientMessageId) for 7 to 14 days. Resolves when durable by the store's own setting. Order of checks:
   * de-duplication, membership and role, the change's preconditions, the write. Calls for one conversation that wait
   * at the same time may share a step. Cost: 1; 2 after a bucket or week was guessed wrong; 1 more for a duplicate.
   *
   * @throws NotMember | Forbidden | IdempotencyConflict | ResourceLimit (members of a group) | Aborted | CorruptRecord;
   * after each of them nothing was written
   */
  commit(request: CommitRequest): Promise<CommitOutcome>;

  /**
   * Rewrites one record in place: new activityId, revision + 1, next amendment number, amendments entry, outbox entry.
   * Takes no sequence. A status of Recalled or Deleted erases content, mentions, replyTo, snippet, body and reactions in the step.
   * Writes nothing when it would change nothing (the outcome is the target as it is). Cost: 1.
   *
   * @throws NotMember | Forbidden | CorruptRecord
   */
  amend(request: AmendRequest): Promise<AmendOutcome>;

  /**
   * Sets or takes off one user's emoji. The record stays as it is to the byte, its activityId too; the message moves forward
   * among the amendments, with an outbox entry, in one step. What is so already writes nothing. Cost: 1.
   *
   * @throws NotMember | ResourceLimit (kinds, users or bytes of reactions) | CorruptRecord
   */
  react(request: ReactRequest): Promise<AmendOutcome>;

  /**
   * One record each, bodies included; undefined where neither index nor record know the sequence. Order and length of
   * `sequences` (1..COMMIT_BATCH_MAX). No membership check: the caller has made it. Cost: 1; 2 when bodies are re-read.
   *
   * @throws CorruptRecord | UnsupportedVersion, for the first that is damaged
   */
  readMessages(
    tenantId: TenantId,
    conversationId: ConversationId,
    sequences: readonly ConversationSeq[],
  ): Promise<readonly (Message | undefined)[]>;

  /**
   * One page of history for a member; the chain of its records is checked. A page also ends before
   * HISTORY_PAGE_BYTES_MAX, but holds at least one record when there is one. Cost: 2; 1 more when bodies are apart, and 1 when there are replies; one redo
   * when the member's floor was not the expected one or a break had to be confirmed.
   *
   * @throws NotMember | CorruptRecord | UnsupportedVersion
   */
  readHistory(query: HistoryQuery): Promise<HistoryPage>;

  /**
   * What a member's device missed: new records, and the present state of held ones that were amended. Chain as in
   * `readHistory`. At most `limit` amendments are looked at; new records come first where HISTORY_PAGE_BYTES_MAX is short,
   * and the answer holds one record at least when there is one. Cost: as `readHistory`.
   *
   * @throws NotMember | CorruptRecord | UnsupportedVersion
   */
  catchUp(query: CatchUpQuery): Promise<CatchUpPage>;

  /**
   * One atomic step of retention: removes a prefix of at most RETENTION_STEP_RECORDS_MAX records in at most
   * RETENTION_STEP_BUCKETS_MAX buckets, with their index entries, bodies, reactions and amendments, and raises retainedFrom past it.
   * Never the newest record: when all before it are gone and its time has come it is rewritten as Deleted, an amendment
   * by nobody. Damaged records go with those that are known to be younger. No such conversation: nothing to do.
   * Cost: 2 when there is nothing to do, else up to 4; 3 more when others changed the conversation meanwhile.
   *
   * @throws CorruptRecord | UnsupportedVersion (facts or index, or the newest that was to be rewritten) | Aborted
   */
  retain(tenantId: TenantId, conversationId: ConversationId, policy: RetentionPolicy): Promise<RetentionOutcome>;

  /**
   * Names all conversations, some `limit` (1..CONVERSATIONS_READ_MAX) at a time, in no order: each that was there
   * throughout at least once. `cursor`: `next` of the page before; undefined: from the beginning. Cost: 1.
   */
  conversations(cursor: string | undefined, limit: number): Promise<ConversationsPage>;

  /**
   * Facts, and the user's member entry. Undefined facts: no such conversation, or one whose facts cannot be read while
   * the user has no entry: damage is told to members alone. Cost: 1.
   *
   * @throws CorruptRecord (factsUnreadable, memberUnreadable)
   */
  readConversation(
    tenantId: TenantId,
    conversationId: ConversationId,
    userId: UserId,
  ): Promise<{ readonly facts: ConversationFacts | undefined; readonly member: MemberEntry | undefined }>;

  /**
   * All members with their entries, in the order of their user ids; empty: no such conversation. At most
   * GROUP_MEMBERS_MAX. Cost: 1.
   *
   * @throws CorruptRecord (memberUnreadable)
   */
  readMembers(tenantId: TenantId, conversationId: ConversationId): Promise<ReadonlyMap<UserId, MemberEntry>>;

  /**
   * Head and exact unread of each conversation for one user (seed, sections 3 and 4): one summary per state, same order,
   * duplicates included. At most LIST_PAGE_SIZE_MAX states; none costs no command. Counted after the watermark: sender
   * is not the user, status Normal or Edited, type is not Control. Cost: 2, and at most EXACT_UNREAD_SCAN_LIMIT + 2
   * records for a conversation; a conversation whose chain seemed broken is read once more.
   *
   * @throws CorruptRecord | UnsupportedVersion, for the first conversation that is damaged
   */
  conversationSummaries(tenantId: TenantId, userId: UserId, states: readonly ConversationState[]): Promise<readonly ConversationSummary[]>;

  /**
   * The same two rounds, answered per conversation: a damaged one is an entry and disturbs no other. The strict call
   * above is a wrapper of this one. Cost: as above.
   */
  readConversations(tenantId: TenantId, userId: UserId, states: readonly ConversationState[]): Promise<readonly ConversationReading[]>;
}
