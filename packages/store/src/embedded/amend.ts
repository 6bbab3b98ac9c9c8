/** The plan of an amendment: compare-and-set on the target's activityId, in its own place, without a sequence. */
import { forbidden } from '@qim/proto';
import { encodeRecord } from '../message/codec.js';
import type { AmendOutcome, AmendRequest } from '../message/message-store.js';
import { amendedRecord, changesNothing } from '../message/record.js';
import { LEAST_ROLE } from './commit.js';
import { ConversationReads } from './conversation-reads.js';
import type { Plan, Snapshot } from './environment.js';
import { outboxWrites } from './outbox.js';
import { counterFrom, counterValue, encodeFacts } from './values.js';

/** `now` in Unix milliseconds. @throws as MessageStore.amend */
export function planAmend(snapshot: Snapshot, request: AmendRequest, now: number, partition: number): Plan<AmendOutcome> {
  const { tenantId, conversationId, conversationSeq } = request.target;
  const reads = new ConversationReads(snapshot, tenantId, conversationId);
  const { keys } = reads;
  const { facts, member } = reads.membership(request.actor);
  if (member.role < LEAST_ROLE[request.needs]) throw forbidden(request.needs);

  const stored = reads.record(conversationSeq);
  if (stored === undefined && reads.hasIndexMember(conversationSeq)) throw reads.damage('recordMissing', conversationSeq);
  if (stored?.activityId !== request.target.activityId) return { result: { kind: 'changed' }, writes: [] };
  if (changesNothing(request)) return { result: { kind: 'amended', message: { record: stored, epoch: facts.epoch } }, writes: [] };

  const record = amendedRecord(request, now);
  const encoded = encodeRecord(record);
  const amendmentNumber = facts.amendmentNumber + 1;
  const before = counterFrom(snapshot.get(keys.amendmentOf(conversationSeq)));
  const writes = [
    { key: keys.record(conversationSeq), value: encoded.record },
    { key: keys.body(conversationSeq), value: encoded.body },
    { key: keys.facts, value: encodeFacts({ ...facts, amendmentNumber }) },
    // One entry for each amended record, moving forward.
    ...(before > 0 ? [{ key: keys.amendment(before), value: undefined }] : []),
    { key: keys.amendment(amendmentNumber), value: counterValue(conversationSeq) },
    { key: keys.amendmentOf(conversationSeq), value: counterValue(amendmentNumber) },
    ...outboxWrites(snapshot, partition, { kind: 'amended', tenantId, conversationId, conversationSeq, atMs: now }),
  ];
  return { result: { kind: 'amended', message: { record, epoch: facts.epoch } }, writes };
}
