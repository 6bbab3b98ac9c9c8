/** The plans of an amendment and of a reaction: compare-and-set on the target's activityId, in its own place, without a sequence. */
import { type ConversationSeq, forbidden, type MessageRecord } from '@qim/proto';
import { encodeRecord } from '../message/codec.js';
import type { StoredFacts } from '../message/facts.js';
import type { AmendOutcome, AmendRequest, ReactRequest } from '../message/message-store.js';
import { encodeReactions, reactionsAfter } from '../message/reactions.js';
import { amendedRecord, changesNothing, isErased } from '../message/record.js';
import { LEAST_ROLE } from './commit.js';
import { ConversationReads } from './conversation-reads.js';
import type { Plan, Snapshot, Write } from './environment.js';
import type { ConversationKeys } from './keys.js';
import { outboxWrites } from './outbox.js';
import { counterFrom, counterValue, encodeFacts } from './values.js';

/** `now` in Unix milliseconds. @throws as MessageStore.amend */
export function planAmend(snapshot: Snapshot, request: AmendRequest, now: number, partition: number): Plan<AmendOutcome> {
  const reads = readsOf(snapshot, request.target);
  const { facts, member } = reads.membership(request.actor);
  if (member.role < LEAST_ROLE[request.needs]) throw forbidden(request.needs);
  const stored = unchanged(reads, request.target);
  if (stored === undefined) return { result: { kind: 'changed' }, writes: [] };
  if (changesNothing(request)) return { result: { kind: 'amended', message: reads.messageOf(stored, facts.epoch) }, writes: [] };

  const record = amendedRecord(request, now);
  const encoded = encodeRecord(record);
  const { keys } = reads;
  const { conversationSeq } = record;
  const writes = [
    { key: keys.record(conversationSeq), value: encoded.record },
    { key: keys.body(conversationSeq), value: encoded.body },
    ...(isErased(record.status) ? [{ key: keys.reactions(conversationSeq), value: undefined }] : []),
    ...amended(snapshot, reads, facts, record, now, partition),
  ];
  return { result: { kind: 'amended', message: reads.messageOf(record, facts.epoch) }, writes };
}

/** The record itself is not written. @throws as MessageStore.react */
export function planReaction(snapshot: Snapshot, request: ReactRequest, now: number, partition: number): Plan<AmendOutcome> {
  const reads = readsOf(snapshot, request.target);
  const { facts } = reads.membership(request.actor);
  const record = unchanged(reads, request.target);
  if (record === undefined) return { result: { kind: 'changed' }, writes: [] };
  const after = reactionsAfter(reads.reactions(record), request);
  if (after === undefined) return { result: { kind: 'amended', message: reads.messageOf(record, facts.epoch) }, writes: [] };
  const writes = [
    { key: reads.keys.reactions(record.conversationSeq), value: encodeReactions(record.messageId, after) },
    ...amended(snapshot, reads, facts, record, now, partition),
  ];
  return { result: { kind: 'amended', message: { record, epoch: facts.epoch, reactions: after } }, writes };
}

function readsOf(snapshot: Snapshot, { tenantId, conversationId }: MessageRecord): ConversationReads {
  return new ConversationReads(snapshot, tenantId, conversationId);
}

/** The target as it is stored; undefined: it is another one by now, or gone. */
function unchanged(reads: ConversationReads, { conversationSeq, activityId }: MessageRecord): MessageRecord | undefined {
  const stored = reads.record(conversationSeq);
  if (stored === undefined && reads.hasIndexMember(conversationSeq)) throw reads.damage('recordMissing', conversationSeq);
  return stored?.activityId === activityId ? stored : undefined;
}

/** Everything beside what itself was rewritten. */
function amended(
  snapshot: Snapshot,
  { keys }: ConversationReads,
  facts: StoredFacts,
  { tenantId, conversationId, conversationSeq }: MessageRecord,
  now: number,
  partition: number,
): Write[] {
  const amendmentNumber = facts.amendmentNumber + 1;
  return [
    { key: keys.facts, value: encodeFacts({ ...facts, amendmentNumber }) },
    ...amendmentWrites(snapshot, keys, conversationSeq, amendmentNumber),
    ...outboxWrites(snapshot, partition, { kind: 'amended', tenantId, conversationId, conversationSeq, atMs: now }),
  ];
}

/** One entry for each amended message, moving forward. */
export function amendmentWrites(snapshot: Snapshot, keys: ConversationKeys, sequence: ConversationSeq, number: number): Write[] {
  const before = counterFrom(snapshot.get(keys.amendmentOf(sequence)));
  return [
    ...(before > 0 ? [{ key: keys.amendment(before), value: undefined }] : []),
    { key: keys.amendment(number), value: counterValue(sequence) },
    { key: keys.amendmentOf(sequence), value: counterValue(number) },
  ];
}
