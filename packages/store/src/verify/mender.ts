/**
 * How a store is mended: changes that are written in one atomic step, and only while what they were decided on still
 * holds. Implementations as for the scanner. On Redis a server may go on beside it; on the embedded store the mender
 * needs the folder for itself.
 */
import type { ConversationId, ConversationSeq, UserId } from '@qim/proto';
import type { ViewEntry } from '../directory/view-entry.js';
import type { StoredFacts } from '../message/facts.js';
import type { MemberEntry } from '../message/summary.js';
import type { ConversationPlace, Finding, UserPlace } from './finding.js';
import type { Quarantined, Slot } from './scanner.js';

export type ConversationChange =
  | { readonly kind: 'remove'; readonly slot: Slot }
  /** With score 0. */
  | { readonly kind: 'index'; readonly sequence: ConversationSeq }
  /** `body` undefined: there is none afterwards. */
  | { readonly kind: 'record'; readonly sequence: ConversationSeq; readonly record: Uint8Array; readonly body: Uint8Array | undefined }
  | { readonly kind: 'dropRecord'; readonly sequence: ConversationSeq }
  | { readonly kind: 'dropBody'; readonly sequence: ConversationSeq }
  | { readonly kind: 'unindex'; readonly sequence: ConversationSeq }
  | { readonly kind: 'facts'; readonly facts: StoredFacts }
  | { readonly kind: 'member'; readonly userId: UserId; readonly entry: MemberEntry }
  /** The one entry of that record. */
  | { readonly kind: 'amendment'; readonly sequence: ConversationSeq; readonly number: number }
  | { readonly kind: 'dropAmendment'; readonly sequence: ConversationSeq }
  /** Undefined: there are none afterwards. */
  | { readonly kind: 'reactions'; readonly sequence: ConversationSeq; readonly value: Uint8Array | undefined }
  | { readonly kind: 'aside'; readonly item: Quarantined };

export type UserChange =
  | { readonly kind: 'remove'; readonly slot: Slot }
  | { readonly kind: 'view'; readonly entry: ViewEntry }
  | { readonly kind: 'dropView' }
  | { readonly kind: 'listed'; readonly activityAtMs: number }
  | { readonly kind: 'unlist' }
  | { readonly kind: 'readMark'; readonly readSeq: ConversationSeq }
  | { readonly kind: 'dropReadMark' }
  | { readonly kind: 'pin'; readonly pinnedAtMs: number }
  | { readonly kind: 'unpin' };

/** What a step was decided on, and must still hold when it is written. What is appended meanwhile changes none of it. */
export interface Seen {
  /** Those that can be read, as far as they are known to stand: retention, epoch and every field that the step changes. */
  readonly facts: StoredFacts | undefined;
  /** Of facts that cannot be read: all of them, as they stand (FactsRead). */
  readonly guard: string;
  readonly values: readonly SeenValue[];
}

export type SeenValue =
  /** `record` undefined: there is none. */
  | { readonly kind: 'record'; readonly sequence: ConversationSeq; readonly record: Uint8Array | undefined }
  /** A score is its decimal text. */
  | { readonly kind: 'slot'; readonly slot: Slot; readonly value: Buffer };

export interface StoreMender {
  /**
   * Where the store notes which server takes its writes (Redis): nobody does any more, so that the next write of each
   * partition begins a new epoch. How many partitions there are.
   */
  forgetServers?(): Promise<number>;
  /** False: something of what was seen does not hold any more, and nothing was written. @throws StoreUnavailable */
  mendConversation(place: ConversationPlace, seen: Seen, changes: readonly ConversationChange[]): Promise<boolean>;
  /** The same for one user's entry of one conversation. */
  mendUser(
    place: UserPlace,
    conversationId: ConversationId | undefined,
    guard: string | undefined,
    changes: readonly UserChange[],
  ): Promise<boolean>;
  /** The guard of facts that were just written. */
  guardOf(facts: StoredFacts): string;
}

/** How one finding is mended. */
export type Mend =
  | {
      readonly on: 'conversation';
      /** What is done, as 'the record was put aside'. */
      readonly did: string;
      readonly changes: readonly ConversationChange[];
      /** Beside the facts. */
      readonly seen?: readonly SeenValue[];
      /** What becomes of facts that can be read. */
      readonly facts?: (facts: StoredFacts) => StoredFacts;
      /** Devices may hold something else under a sequence: the epoch rises. */
      readonly resync?: boolean;
    }
  | {
      readonly on: 'user';
      readonly did: string;
      readonly user: UserPlace;
      readonly conversationId: ConversationId | undefined;
      /** Undefined: the changes need none. */
      readonly guard: string | undefined;
      readonly changes: readonly UserChange[];
    };

/** A finding, and how it is mended; `mend` undefined: it is not, and `unmended` says why. */
export interface Problem {
  readonly finding: Finding;
  readonly mend: Mend | undefined;
  readonly unmended?: string;
}
