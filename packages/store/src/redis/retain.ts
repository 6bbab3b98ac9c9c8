/**
 * Retention on Redis: what is to go is read and judged here, and removed by one script, if nothing that this was judged
 * on has changed meanwhile. Commits may go on: they change nothing about the beginning of a conversation.
 */
import {
  AMEND_TRIES_MAX,
  type ConversationSeq,
  type CorruptReason,
  RECORD_BUCKET_SIZE,
  RETENTION_STEP_BUCKETS_MAX,
  SEQ_MAX,
  SEQ_ZERO,
} from '@qim/proto';
import { aborted } from '../errors.js';
import { setUuid } from '../message/bytes.js';
import { decodeHeader, encodeRecord } from '../message/codec.js';
import type { StoredFacts } from '../message/facts.js';
import type { RetentionOutcome, RetentionPolicy } from '../message/message-store.js';
import { expiredRecord, isErased } from '../message/record.js';
import { type DatedRecord, planRemoval, RETENTION_LOOK_MAX, type Removal } from '../message/retention.js';
import type { RecordBytes } from '../message/summaries.js';
import { refusal } from './commit-results.js';
import { type Argument, isWrongType } from './connection.js';
import type { RedisContext } from './context.js';
import { bucketOf, type ConversationPlace } from './keys.js';
import { readAtomically, wholeRecord } from './messages.js';
import { factsCommand, factsFrom, membersAfterCommand, membersFrom, newestCommand, newestFrom } from './reads.js';
import { RecordReads } from './record-reads.js';
import { asArray, asNumber, asText, toBuffer } from './replies.js';

const NOTHING: RetentionOutcome = { removed: 0, more: false };

/** @throws as MessageStore.retain */
export async function retain(context: RedisContext, place: ConversationPlace, policy: RetentionPolicy): Promise<RetentionOutcome> {
  const reads = new RecordReads(context, place);
  for (let tries = 0; tries < AMEND_TRIES_MAX; tries += 1) {
    const beginning = await readBeginning(context, reads, policy);
    if (beginning === undefined) return NOTHING;
    const { removal, newest, facts } = beginning;
    const expiry = removal.reachesNewest ? await readExpiry(context, reads, place, newest, removal) : undefined;
    if (removal.sequences.length === 0 && expiry === undefined) return NOTHING;
    const reply = await run(context, reads, place, facts, removal, newest, expiry);
    if (isWrongType(reply)) throw reads.damage('wrongType');
    const [kind, ...values] = asArray(reply);
    if (asText(kind) === 'done') {
      return { removed: removal.sequences.length, more: removal.more || (removal.reachesNewest && expiry === 'unreadable') };
    }
    if (asText(kind) !== 'changed') throw refusal(asText(kind), values, place, '');
  }
  throw aborted();
}

interface Beginning {
  readonly facts: StoredFacts;
  readonly newest: ConversationSeq;
  readonly removal: Removal;
}

/** Undefined: there is no record. */
async function readBeginning(context: RedisContext, reads: RecordReads, policy: RetentionPolicy): Promise<Beginning | undefined> {
  const { keys } = reads;
  const replies = await context.connection.pipeline([
    factsCommand(keys),
    newestCommand(keys),
    ['ZCARD', keys.history],
    membersAfterCommand(keys, SEQ_ZERO, RETENTION_LOOK_MAX + 1),
  ]);
  const [facts, newestMember] = [reads.sound(factsFrom(replies[0])), reads.sound(newestFrom(replies[1]))];
  if (facts === undefined && newestMember === undefined) return undefined;
  if (facts === undefined) throw reads.damage('factsMissing');
  const newest = reads.checkEnd(facts, newestMember);
  if (newest === SEQ_ZERO) return undefined;
  const first = reads.sequences(membersFrom(replies[3])).filter((seq) => seq < newest);
  const oldest = first.slice(0, RETENTION_LOOK_MAX);
  const dated = await readDates(reads, policy, oldest, newest);
  return { facts, newest, removal: planRemoval(policy, dated.oldest, dated.newest, asNumber(replies[2] ?? null)) };
}

/** No record is read where no date is asked for, and two are where neither is old: a sweep finds that most of the time. */
async function readDates(reads: RecordReads, policy: RetentionPolicy, oldest: readonly ConversationSeq[], newest: ConversationSeq) {
  const undated = (sequence: ConversationSeq): DatedRecord => ({ sequence, committedAtMs: undefined });
  const { olderThanMs } = policy;
  if (olderThanMs === undefined) return { oldest: oldest.map(undated), newest: undated(newest) };
  const dated = async (sequences: readonly ConversationSeq[]): Promise<DatedRecord[]> => {
    const bytes = await reads.bytes(sequences);
    return sequences.map((sequence, i) => ({ sequence, committedAtMs: dateOf(bytes[i]) }));
  };
  const [last = undated(newest), first] = await dated([newest, ...oldest.slice(0, 1)]);
  const young = first === undefined || (first.committedAtMs !== undefined && first.committedAtMs >= olderThanMs);
  return { oldest: young ? oldest.map(undated) : await dated(oldest), newest: last };
}

function dateOf(bytes: RecordBytes): number | undefined {
  const header = typeof bytes === 'object' ? decodeHeader(bytes) : 'recordMissing';
  return typeof header === 'string' ? undefined : header.committedAtMs;
}

interface Expiry {
  readonly activity: Buffer;
  readonly record: Buffer;
}

/**
 * The newest record without its content; undefined: it has none. unreadable: it cannot be rewritten, which is thrown once
 * there is nothing else to do.
 */
async function readExpiry(
  context: RedisContext,
  reads: RecordReads,
  place: ConversationPlace,
  newest: ConversationSeq,
  removal: Removal,
): Promise<Expiry | 'unreadable' | undefined> {
  const [row] = await readAtomically(context, reads.keys, [newest]);
  const target = wholeRecord(place, newest, row?.record, row?.body) ?? ('recordMissing' satisfies CorruptReason);
  if (typeof target === 'string') {
    if (removal.sequences.length > 0) return 'unreadable';
    throw reads.damage(target, newest);
  }
  if (isErased(target.status)) return undefined;
  const activity = Buffer.alloc(16);
  setUuid(activity, 0, target.activityId);
  const { record } = encodeRecord(expiredRecord(target, context.now() + context.clockOffsetMs()));
  return { activity, record: toBuffer(record) };
}

function run(
  { scripts }: RedisContext,
  { keys }: RecordReads,
  { tenantId, conversationId }: ConversationPlace,
  facts: StoredFacts,
  { sequences }: Removal,
  newest: ConversationSeq,
  expiry: Expiry | 'unreadable' | undefined,
) {
  const buckets = [...new Set(sequences.map(bucketOf))];
  const bucket = bucketOf(newest);
  const places = Array.from({ length: RETENTION_STEP_BUCKETS_MAX }, (_, i) => buckets[i] ?? buckets[0] ?? bucket);
  const rewritten = typeof expiry === 'object' ? [expiry.activity, expiry.record] : ['', ''];
  const args: Argument[] = [
    String(tenantId),
    conversationId,
    String(SEQ_MAX),
    String(RECORD_BUCKET_SIZE),
    String(facts.retainedFrom),
    String(sequences.at(-1) ?? SEQ_ZERO),
    String(sequences.length),
    String(newest),
    ...rewritten,
    ...buckets.map(String),
  ];
  const scriptKeys = [
    ...[keys.facts, keys.history, keys.amendments, keys.outbox, keys.records(bucket), keys.bodies(bucket)],
    ...places.map((at) => keys.records(at)),
    ...places.map((at) => keys.bodies(at)),
    keys.reactions,
    ...keys.guard,
  ];
  return scripts.run('retain', scriptKeys, args);
}
