/**
 * What is kept per user: the order of the list, read marks and floors. All of a user's keys lie in one slot, and each
 * change is one atomic step there, idempotent against redelivery and reordering: `memberSeq` (the sequence of the last
 * join or leave that was applied) and `hiddenSeq` decide, never the order of arrival. Only the order of the list may
 * lag behind the history; heads and counts are never kept here. Every method may throw `StoreUnavailable`.
 */
import type { ConversationId, ConversationSeq, TenantId, UserId } from '@qim/proto';

export interface ConversationFlags {
  readonly pinned: boolean;
  readonly muted: boolean;
  readonly hidden: boolean;
  readonly markedUnread: boolean;
}

/** One user's view of one conversation. */
export interface ConversationView {
  readonly conversationId: ConversationId;
  /** The read mark; 0: nothing read. */
  readonly readSeq: ConversationSeq;
  readonly joinedSeq: ConversationSeq;
  readonly visibleFrom: ConversationSeq;
  /** History up to here is cleared for this user; 0: never. */
  readonly clearedSeq: ConversationSeq;
  readonly memberSeq: ConversationSeq;
  readonly flags: ConversationFlags;
}

/** Absent ones stay as they are. Pinning shows a hidden conversation, and hiding unpins: both at once is the caller's fault. */
export type FlagsChange = Partial<ConversationFlags>;

export interface DirectoryPage {
  /**
   * Pinned ones first, the newest pin first; then the others by last activity, newest first, equal times by conversation id,
   * descending.
   */
  readonly views: readonly ConversationView[];
  /** Undefined: this was the last page. */
  readonly next: DirectoryCursor | undefined;
}

/**
 * After this entry. Conversations that move, or are unpinned, while one pages may be met twice, and never lost to a list by
 * id: one that is pinned after the first page stands where its activity puts it until the list is read anew.
 */
export interface DirectoryCursor {
  /** Of a pinned one: when it was pinned. */
  readonly activityAtMs: number;
  readonly conversationId: ConversationId;
  /** The entry is among the pinned ones. */
  readonly pinned?: boolean;
  /** Pins made until then are among the pinned ones of this list; absent: there were none. */
  readonly pinsThroughMs?: number;
}

export interface HeldPage {
  readonly conversationIds: readonly ConversationId[];
  /** Undefined: this was the last page. A page may be empty while more follow. */
  readonly next: string | undefined;
}

export interface JoinedUser {
  readonly userId: UserId;
  readonly joinedSeq: ConversationSeq;
  readonly visibleFrom: ConversationSeq;
}

export interface Activity {
  readonly conversationSeq: ConversationSeq;
  /** committedAtMs of that record. */
  readonly activityAtMs: number;
}

export interface Directory {
  /**
   * One page of a user's list: order, read marks and floors in one atomic read. `limit` 1..LIST_PAGE_SIZE_MAX. Cost: 1.
   * An entry without a readable view is returned with joinedSeq 1 and visibleFrom 1: the member entry decides anyway.
   */
  page(tenantId: TenantId, userId: UserId, limit: number, cursor: DirectoryCursor | undefined): Promise<DirectoryPage>;

  /** Undefined: never joined, or left. A read mark alone is no view. Cost: 1. */
  view(tenantId: TenantId, userId: UserId, conversationId: ConversationId): Promise<ConversationView | undefined>;

  /**
   * Up to where each of the users has cleared the conversation, in their order; 0: nothing, or there is no readable view.
   * Cost: 1 pipeline.
   */
  clearedSeqs(tenantId: TenantId, conversationId: ConversationId, userIds: readonly UserId[]): Promise<readonly ConversationSeq[]>;

  /**
   * Raises the read mark by an atomic maximum, and clears markedUnread; returns what now holds. The caller has bounded
   * `readSeq` by the head. Cost: 1.
   */
  raiseRead(tenantId: TenantId, userId: UserId, conversationId: ConversationId, readSeq: ConversationSeq): Promise<ConversationSeq>;

  /**
   * Raises clearedSeq by an atomic maximum, and nothing else; returns what now holds. The caller has bounded `upToSeq` by
   * the head. Without a view it is kept for when the join arrives; a leave and a later join keep it. Cost: 1.
   */
  clear(tenantId: TenantId, userId: UserId, conversationId: ConversationId, upToSeq: ConversationSeq): Promise<ConversationSeq>;

  /**
   * Changes the flags that are named, for all devices of the user; returns what now holds. Hiding takes the conversation
   * out of the list until activity past `head`, and unpins it; pinning brings a hidden one back, as `hidden: false` does, at
   * the time of `head`. A leave unpins and keeps the others. Undefined: the user does not have it. Cost: 1.
   *
   * @throws ResourceLimit (PINS_MAX pins already); nothing was written
   */
  setFlags(
    tenantId: TenantId,
    userId: UserId,
    conversationId: ConversationId,
    change: FlagsChange,
    head: Activity,
  ): Promise<ConversationFlags | undefined>;

  /**
   * Moves the conversation up in the lists of users who have it; never brings back what a user left; never moves it
   * down. A hidden one comes back when `conversationSeq` is past hiddenSeq. Cost: 1 pipeline.
   */
  touch(tenantId: TenantId, conversationId: ConversationId, userIds: readonly UserId[], activity: Activity): Promise<void>;

  /** Puts the conversation into the users' lists, unless a later join or leave was applied. Cost: 1 pipeline. */
  join(tenantId: TenantId, conversationId: ConversationId, users: readonly JoinedUser[], activity: Activity): Promise<void>;

  /**
   * Takes it out of the users' lists and leaves a tombstone for as long as de-duplication entries live, unless a later
   * join was applied. `memberSeq` is the sequence of the leave's Control record. Cost: 1 pipeline.
   */
  leave(tenantId: TenantId, conversationId: ConversationId, userIds: readonly UserId[], memberSeq: ConversationSeq): Promise<void>;

  /**
   * Names the conversations that the user has, hidden ones too, some `limit` (1..HELD_PAGE_SIZE) at a time, in no order:
   * each that was there throughout at least once. `cursor`: `next` of the page before. Cost: 1.
   */
  held(tenantId: TenantId, userId: UserId, cursor: string | undefined, limit: number): Promise<HeldPage>;

  /** Removes all read marks and pins of the user; views stay. Cost: 1. */
  forget(tenantId: TenantId, userId: UserId): Promise<void>;

  /**
   * Remembers which group a client request made, for 7 to 14 days: the id given the first time, for ever after.
   * Cost: 1.
   */
  groupForRequest(tenantId: TenantId, userId: UserId, clientRequestId: string, candidate: ConversationId): Promise<ConversationId>;
}
