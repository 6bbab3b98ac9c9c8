/** What a verification is asked to do, and how it tells what it did. */
import type { ConversationId, TenantId, UserId } from '@qim/proto';
import type { ConversationPlace, Finding } from './finding.js';
import type { SkippedRange } from './scanner.js';

export interface VerifyOptions {
  /** Undefined: all. With a conversation or a user the tenant is named too. */
  readonly tenantId: TenantId | undefined;
  readonly conversationId: ConversationId | undefined;
  readonly userId: UserId | undefined;
  /** `dry`: what would be done is told, and nothing is written. */
  readonly repair: 'no' | 'dry' | 'yes';
  readonly newerIsDamage: boolean;
  /** Records a second; undefined: as fast as it goes. */
  readonly rate: number | undefined;
  /** Ends it at the next page. */
  readonly signal: AbortSignal;
  readonly clock: VerifyClock;
  readonly report: VerifyReport;
}

export interface VerifyClock {
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly monotonicNow: () => number;
  /** Resolves after `ms`, or when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Told as things happen, so that nothing is kept. Must not throw. */
export interface VerifyReport {
  found(finding: Finding): void;
  /** `did` completes 'mended: …'; in a dry run it is what would be done. */
  mended(finding: Finding, did: string): void;
  /** A repair did not mend it. */
  left(finding: Finding, why: string): void;
  /** No finding: what a take-over left out. Told once for each conversation. */
  skipped(place: ConversationPlace, range: SkippedRange): void;
  progress(progress: VerifyProgress): void;
}

export interface VerifyProgress {
  readonly pass: 'conversations' | 'users';
  /** 0..1, of the pass. */
  readonly done: number;
  readonly counts: VerifyCounts;
}

export interface VerifyCounts {
  readonly conversations: number;
  readonly users: number;
  /** Everything that was read one by one: records, members, entries. */
  readonly records: number;
  readonly findings: number;
  readonly mended: number;
  /** Findings that a repair did not mend; without one all of them. */
  readonly left: number;
}
