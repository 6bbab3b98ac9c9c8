/** Which buckets of a conversation may hold records, when its facts and its index can be believed. */
import { FSCK_BUCKETS_SPAN_MAX } from '@qim/proto';
import { sequenceFromBytes } from '../message/bytes.js';
import type { StoredFacts } from '../message/facts.js';
import { bucketOf } from './keys.js';
import type { newestFrom } from './reads.js';

/** Both ends included. */
export interface BucketSpan {
  readonly first: number;
  readonly last: number;
}

/** From where retention left off to the bucket after the newest. Undefined: it cannot be told, or is too wide to look up. */
export function bucketSpan(facts: StoredFacts | string | undefined, newest: ReturnType<typeof newestFrom>): BucketSpan | undefined {
  if (typeof facts !== 'object' || typeof newest === 'string') return undefined;
  const newestSequence = newest === undefined ? 0 : (sequenceFromBytes(newest.member) ?? 0);
  const span = { first: bucketOf(facts.retainedFrom), last: bucketOf(Math.max(facts.lastSequence, newestSequence)) + 1 };
  return span.last - span.first < FSCK_BUCKETS_SPAN_MAX ? span : undefined;
}

export function isIn({ first, last }: BucketSpan, bucket: number): boolean {
  return bucket >= first && bucket <= last;
}
