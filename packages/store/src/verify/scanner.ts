/**
 * A store as the verifier reads it: what stands there, in pages, as it stands. Nothing is judged here, and nothing that
 * is damaged throws. Implementations: `../redis/maintenance-*`, `../embedded/maintenance-*`.
 *
 * Memory is bounded by a page; the members of one conversation are the exception. A page is of one moment, two pages are
 * not: whoever finds something wrong beside a running server reads again before saying so. Every method may throw
 * `StoreUnavailable`.
 */
import type { ClientMessageId, ConversationId, ConversationSeq, CorruptReason, TenantId, UserId } from '@qim/proto';
import type { StoredFacts } from '../message/facts.js';
import type { MemberEntry } from '../message/summary.js';
import type { ConversationPlace, UserPlace } from './finding.js';

/** Where one stored thing stands, for the mender alone: it may lie under a name that no code of ours would form. */
export interface Slot {
  readonly table:
    | 'index'
    | 'record'
    | 'body'
    | 'member'
    | 'amendment'
    | 'reaction'
    | 'dedup'
    | 'view'
    | 'list'
    | 'readMark'
    | 'pin'
    | UserKeyName
    | 'key';
  /** Bytes as Latin-1 text. */
  readonly key: string;
  /** Field or member; undefined: the whole key. */
  readonly field: Buffer | undefined;
}

/** What is kept of a user beside conversations. */
export type UserKeyName = 'profile' | 'blocks' | 'suspended' | 'webPush';

/** What a page of a walk over the whole store holds. */
export interface Walk<T> {
  readonly found: readonly T[];
  /** 0..1: how much of the walk is done. */
  readonly done: number;
  /** A walk can begin behind this page, at what this stands for; undefined: not from here. */
  readonly next?: string | undefined;
}

/** Undefined: all. */
export interface WalkFilter {
  readonly tenantId: TenantId | undefined;
  readonly id: string | undefined;
}

export interface FactsRead {
  readonly facts: StoredFacts | CorruptReason | undefined;
  /** In the order of FACT_FIELDS; undefined: nothing of them can be trusted. */
  readonly texts: readonly (string | undefined)[] | undefined;
  /** As they stand, to be put aside; undefined: none. */
  readonly raw: Buffer | undefined;
  /** For the mender: it writes only while the facts are these. */
  readonly guard: string;
}

/** What is stored about one sequence. */
export interface StoredRow {
  readonly sequence: ConversationSeq;
  readonly indexed: boolean;
  /** Of its index member; 0 where an index has no scores. */
  readonly score: number;
  readonly record: Uint8Array | undefined;
  readonly hasBody: boolean;
}

/** What stands in index, records or bodies and is of no sequence. */
export interface OddItem {
  readonly slot: Slot;
  /** wrongType: the whole key is something else. */
  readonly kind: 'name' | 'wrongType';
  readonly bytes: Buffer | undefined;
}

export interface RowPage {
  /** Ascending, also from page to page. */
  readonly rows: readonly StoredRow[];
  readonly odd: readonly OddItem[];
}

export interface StoredMember {
  readonly slot: Slot;
  /** Undefined: the name is no user id. */
  readonly userId: UserId | undefined;
  readonly entry: MemberEntry | CorruptReason;
  readonly raw: Buffer;
}

export interface StoredAmendment {
  readonly slot: Slot;
  /** Undefined: none. */
  readonly sequence: ConversationSeq | undefined;
  /** Undefined: no number 1..2^53-1. */
  readonly number: number | undefined;
  /** The store's other entry for it agrees, where it keeps two. */
  readonly agrees: boolean;
  /** Of the slot; a score is its decimal text. */
  readonly raw: Buffer;
}

export interface StoredReactions {
  readonly slot: Slot;
  /** Undefined: the name is no sequence. */
  readonly sequence: ConversationSeq | undefined;
  readonly raw: Buffer;
}

export interface StoredDedup {
  readonly slot: Slot;
  /** Undefined: the name is no sender and client message id. */
  readonly key: { readonly sender: UserId; readonly clientMessageId: ClientMessageId } | undefined;
  /** Whole weeks since the Unix epoch. */
  readonly week: number;
  readonly bytes: Buffer;
}

/** Sequences that were left out when another server took the writes: others may have been given them (docs/durability.md). */
export interface SkippedRange {
  /** That the conversation came into. */
  readonly epoch: number;
  readonly from: number;
  readonly through: number;
}

/** The raw reads of one conversation. */
export interface ConversationScan {
  readonly place: ConversationPlace;
  facts(): Promise<FactsRead>;
  /** Keys of the conversation that have another type than they must have, those of records and bodies left out. */
  wrongKeys(): Promise<readonly OddItem[]>;
  /** There is at least one index member, whatever it is. */
  hasIndex(): Promise<boolean>;
  /** Everything under its sequences, in pages of some RECORD_BUCKET_SIZE rows. */
  pages(): AsyncIterable<RowPage>;
  /** Rows of the closed range, at most RECORD_BUCKET_SIZE wide. */
  rows(from: ConversationSeq, through: ConversationSeq): Promise<readonly StoredRow[]>;
  /** Of rows that have one, by their order. At most FSCK_BODIES_AT_ONCE. */
  bodies(sequences: readonly ConversationSeq[]): Promise<readonly (Uint8Array | undefined)[]>;
  /** Records alone, by their order; undefined: there is none. At most RECORD_BUCKET_SIZE. */
  records(sequences: readonly ConversationSeq[]): Promise<readonly (Uint8Array | undefined)[]>;
  /** Record and body of one moment. */
  whole(sequence: ConversationSeq): Promise<{ readonly record: Uint8Array | undefined; readonly body: Uint8Array | undefined }>;
  /** Numbers of the newest amendments; undefined: there is no entry. At most RECORD_BUCKET_SIZE. */
  amendmentsOf(sequences: readonly ConversationSeq[]): Promise<readonly (number | undefined)[]>;
  members(): AsyncIterable<readonly StoredMember[]>;
  amendments(): AsyncIterable<readonly StoredAmendment[]>;
  reactions(): AsyncIterable<readonly StoredReactions[]>;
  /** Which of them have reactions beside them, whatever these are; by their order. At most FSCK_PAGE_KEYS. */
  haveReactions(sequences: readonly ConversationSeq[]): Promise<readonly boolean[]>;
  dedup(): AsyncIterable<readonly StoredDedup[]>;
  /** By epoch; none where the store knows no other server. */
  skipped(): Promise<readonly SkippedRange[]>;
  /** Unix milliseconds: when the oldest entry of its outbox was written that waits for delivery; undefined: none waits. */
  waitingSince(): Promise<number | undefined>;
}

/** What one user's keys hold of one conversation. */
export interface UserEntry {
  readonly conversationId: ConversationId;
  /** Text; undefined: none. */
  readonly view: string | undefined;
  /** `at` undefined: no such time. */
  readonly listed: { readonly at: number | undefined } | undefined;
  readonly readMark: string | undefined;
  /** `at` undefined: no such time. */
  readonly pin: { readonly at: number | undefined } | undefined;
  /** Whole keys of another type, in which nothing can be read (Redis). */
  readonly wrongKeys: readonly Slot[];
  /** For the mender: it writes only while the entry is this. */
  readonly guard: string;
}

export interface OddUserItem {
  readonly slot: Slot;
  /** unreadable: of what is a value by itself, as a profile is. */
  readonly kind: 'name' | 'wrongType' | 'doubled' | 'unreadable';
  /** Where the name can be read. */
  readonly conversationId: ConversationId | undefined;
}

export interface UserPage {
  readonly entries: readonly UserEntry[];
  readonly odd: readonly OddUserItem[];
}

/** The raw reads of one user. */
export interface UserScan {
  readonly place: UserPlace;
  /** At most LIST_PAGE_SIZE_MAX entries; each conversation once, unless it moves meanwhile. */
  pages(): AsyncIterable<UserPage>;
  /** Of one conversation, whether or not anything is there. */
  entry(conversationId: ConversationId): Promise<UserEntry>;
}

export interface StoreScanner {
  /**
   * Every conversation of which anything is stored; those of one page only once. `from`: where an earlier walk with the
   * same filter could go on (Walk), of a store that has not been restarted since.
   */
  conversations(filter: WalkFilter, from?: string): AsyncIterable<Walk<ConversationPlace>>;
  users(filter: WalkFilter, from?: string): AsyncIterable<Walk<UserPlace>>;
  conversation(place: ConversationPlace): ConversationScan;
  user(place: UserPlace): UserScan;
  /** Entries of these users for one conversation, by their order. At most FSCK_USERS_AT_ONCE. */
  entriesOf(place: ConversationPlace, userIds: readonly UserId[]): Promise<readonly UserEntry[]>;
  /** Facts, and the user's member entry. */
  membership(
    place: ConversationPlace,
    userId: UserId,
  ): Promise<{ readonly facts: FactsRead; readonly member: MemberEntry | CorruptReason | undefined }>;
  /** Called every FSCK_REST_RECORDS records, between two reads: what reading holds on to is given back. */
  rest(): Promise<void>;
  /** What was put aside, oldest first within a conversation. */
  quarantine(filter: WalkFilter): AsyncIterable<Walk<Quarantined>>;
}

/** One thing that a repair put aside. */
export interface Quarantined extends ConversationPlace {
  /** UUIDv7. */
  readonly id: string;
  readonly conversationSeq: ConversationSeq | undefined;
  readonly userId: UserId | undefined;
  /** What it was. */
  readonly was: string;
  /** Why it was put aside, a finding's code. */
  readonly code: string;
  readonly atMs: number;
  /** Undefined: the entry itself cannot be read. */
  readonly bytes: Buffer | undefined;
}
