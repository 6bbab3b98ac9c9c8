/** The plan of one step of retention: what is judged and what is removed come from one transaction. */
import { type ConversationId, type ConversationSeq, parseConversationSeq, SEQ_ZERO, type TenantId } from '@qim/proto';
import { decodeHeader, encodeRecord } from '../message/codec.js';
import type { StoredFacts } from '../message/facts.js';
import type { RetentionOutcome, RetentionPolicy } from '../message/message-store.js';
import { expiredRecord, isErased } from '../message/record.js';
import { type DatedRecord, planRemoval, RETENTION_LOOK_MAX, type Removal } from '../message/retention.js';
import { amendmentWrites } from './amend.js';
import { ConversationReads } from './conversation-reads.js';
import type { Plan, Snapshot, Write } from './environment.js';
import { outboxWrites } from './outbox.js';
import { counterFrom, encodeFacts } from './values.js';

export interface Retention {
  readonly tenantId: TenantId;
  readonly conversationId: ConversationId;
  readonly policy: RetentionPolicy;
}

/** `now` in Unix milliseconds. @throws CorruptRecord | UnsupportedVersion */
export function planRetention(snapshot: Snapshot, asked: Retention, now: number, partition: number): Plan<RetentionOutcome> {
  const reads = new ConversationReads(snapshot, asked.tenantId, asked.conversationId);
  const newestMember = reads.newestMember();
  const facts = reads.facts();
  if (facts === undefined && newestMember !== undefined) throw reads.damage('factsMissing');
  if (facts === undefined || newestMember === undefined) return { result: { removed: 0, more: false }, writes: [] };
  const newest = reads.sequenceOf(newestMember);
  if (newest < facts.lastSequence) throw reads.damage('indexBehindFacts', facts.lastSequence);

  const removal = judge(reads, asked.policy, newest);
  const kept = factsWithout(facts, removal.sequences);
  const expiry = removal.reachesNewest ? planExpiry(snapshot, reads, newest, kept, removal, now, partition) : undefined;
  const after = expiry?.facts ?? kept;
  const writes = [
    ...removal.sequences.flatMap((seq) => removalWrites(snapshot, reads, seq)),
    ...(expiry?.writes ?? []),
    ...(after === facts ? [] : [{ key: reads.keys.facts, value: encodeFacts(after) }]),
  ];
  return { result: { removed: removal.sequences.length, more: removal.more || expiry?.unreadable === true }, writes };
}

function judge(reads: ConversationReads, policy: RetentionPolicy, newest: ConversationSeq): Removal {
  const { olderThanMs, keepNewest } = policy;
  const first = reads.membersAfter(SEQ_ZERO, RETENTION_LOOK_MAX + 1).map((member) => reads.sequenceOf(member));
  const oldest = first.filter((seq) => seq < newest).slice(0, RETENTION_LOOK_MAX);
  const more = oldest.length === RETENTION_LOOK_MAX && keepNewest !== undefined;
  const count = more ? reads.indexCount() : oldest.length + 1;
  const [last, one] = dated(reads, [newest, ...oldest.slice(0, 1)]);
  const young = one === undefined || (one.committedAtMs !== undefined && one.committedAtMs >= (olderThanMs ?? 0));
  const dates = young ? oldest.map((sequence) => ({ sequence, committedAtMs: undefined })) : dated(reads, oldest);
  return planRemoval(policy, dates, last ?? { sequence: newest, committedAtMs: undefined }, count);
}

function dated(reads: ConversationReads, sequences: readonly ConversationSeq[]): DatedRecord[] {
  const bytes = sequences.map((seq) => reads.recordBytes(seq));
  return sequences.map((sequence, i) => {
    const found = bytes[i];
    const header = found === undefined ? 'recordMissing' : decodeHeader(found);
    return { sequence, committedAtMs: typeof header === 'string' ? undefined : header.committedAtMs };
  });
}

function factsWithout(facts: StoredFacts, removed: readonly ConversationSeq[]): StoredFacts {
  const last = removed.at(-1);
  if (last === undefined) return facts;
  const previewSequence = facts.previewSequence <= last ? SEQ_ZERO : facts.previewSequence;
  return { ...facts, retainedFrom: parseConversationSeq(last + 1), previewSequence };
}

function removalWrites(snapshot: Snapshot, { keys }: ConversationReads, seq: ConversationSeq): Write[] {
  const number = counterFrom(snapshot.get(keys.amendmentOf(seq)));
  return [
    { key: keys.index(seq), value: undefined },
    { key: keys.record(seq), value: undefined },
    { key: keys.body(seq), value: undefined },
    { key: keys.reactions(seq), value: undefined },
    ...(number > 0
      ? [
          { key: keys.amendment(number), value: undefined },
          { key: keys.amendmentOf(seq), value: undefined },
        ]
      : []),
  ];
}

interface Expiry {
  readonly facts: StoredFacts;
  readonly writes: readonly Write[];
  /** It cannot be rewritten, which is thrown once there is nothing else to do. */
  readonly unreadable: boolean;
}

/** The newest record loses its content, as an amendment by nobody; undefined: it has none. */
function planExpiry(
  snapshot: Snapshot,
  reads: ConversationReads,
  newest: ConversationSeq,
  facts: StoredFacts,
  removal: Removal,
  now: number,
  partition: number,
): Expiry | undefined {
  const target = reads.recordOrReason(newest);
  if (typeof target === 'string') {
    if (removal.sequences.length > 0) return { facts, writes: [], unreadable: true };
    throw reads.damage(target, newest);
  }
  if (isErased(target.status)) return undefined;
  const { keys, tenantId, conversationId } = reads;
  const amendmentNumber = facts.amendmentNumber + 1;
  const { record } = encodeRecord(expiredRecord(target, now));
  const writes = [
    { key: keys.record(newest), value: record },
    { key: keys.body(newest), value: undefined },
    { key: keys.reactions(newest), value: undefined },
    ...amendmentWrites(snapshot, keys, newest, amendmentNumber),
    ...outboxWrites(snapshot, partition, { kind: 'amended', tenantId, conversationId, conversationSeq: newest, atMs: now }),
  ];
  return { facts: { ...facts, amendmentNumber }, writes, unreadable: false };
}
