/** What one step of retention removes, for every backend. Pure. */
import { assert, type ConversationSeq, RECORD_BUCKET_SIZE, RETENTION_STEP_BUCKETS_MAX, RETENTION_STEP_RECORDS_MAX } from '@qim/proto';
import type { RetentionPolicy } from './message-store.js';

/** How many of the first records a step looks at: one more than it removes, to know whether there are more. */
export const RETENTION_LOOK_MAX = RETENTION_STEP_RECORDS_MAX + 1;

/** When a record was committed; undefined: it cannot be read. */
export interface DatedRecord {
  readonly sequence: ConversationSeq;
  readonly committedAtMs: number | undefined;
}

export interface Removal {
  /** A prefix of the conversation; empty: nothing is to be removed. */
  readonly sequences: readonly ConversationSeq[];
  readonly more: boolean;
  /** The time of the newest record has come, and nothing is left before it. */
  readonly reachesNewest: boolean;
}

/**
 * `oldest`: the first records, ascending, at most RETENTION_LOOK_MAX, never the newest. `count`: all records, the newest
 * included. Times never go back within a conversation, so one that cannot be read is as old as any after it.
 */
export function planRemoval(policy: RetentionPolicy, oldest: readonly DatedRecord[], newest: DatedRecord, count: number): Removal {
  const { olderThanMs, keepNewest } = policy;
  assert(keepNewest === undefined || keepNewest >= 0, 'a number of records is kept');
  const surplus = keepNewest === undefined ? 0 : count - keepNewest;
  const old = (record: DatedRecord) =>
    olderThanMs !== undefined && record.committedAtMs !== undefined && record.committedAtMs < olderThanMs;
  const newestIsDue = old(newest) || surplus >= count;
  const due = newestIsDue ? oldest.length : Math.max(Math.min(surplus, oldest.length), oldest.findLastIndex(old) + 1);
  const sequences = oldest.slice(0, Math.min(due, RETENTION_STEP_RECORDS_MAX)).map(({ sequence }) => sequence);
  const step = withinBuckets(sequences);
  return { sequences: step, more: step.length < due, reachesNewest: newestIsDue && step.length >= count - 1 };
}

function withinBuckets(sequences: readonly ConversationSeq[]): readonly ConversationSeq[] {
  const buckets = new Set<number>();
  for (const [i, sequence] of sequences.entries()) {
    buckets.add(Math.floor(sequence / RECORD_BUCKET_SIZE));
    if (buckets.size > RETENTION_STEP_BUCKETS_MAX) return sequences.slice(0, i);
  }
  return sequences;
}
