/** One step of retention in the reference model. */
import {
  assert,
  type ConversationId,
  type ConversationSeq,
  type MessageRecord,
  parseConversationSeq,
  RECORD_BUCKET_SIZE,
  RETENTION_STEP_BUCKETS_MAX,
  RETENTION_STEP_RECORDS_MAX,
  SEQ_ZERO,
  type TenantId,
} from '@qim/proto';
import type { RetentionOutcome, RetentionPolicy } from '../message/message-store.js';
import { expiredRecord, isErased } from '../message/record.js';
import { rewrite } from './amend.js';
import type { MemoryConversation, MemoryState } from './state.js';

export function retain(
  state: MemoryState,
  tenantId: TenantId,
  conversationId: ConversationId,
  { olderThanMs, keepNewest }: RetentionPolicy,
): RetentionOutcome {
  assert(keepNewest === undefined || keepNewest >= 0, 'a number of records is kept');
  const conversation = state.conversation(tenantId, conversationId);
  const all = [...(conversation?.records.values() ?? [])];
  const due = all.filter(
    ({ committedAtMs }, i) =>
      (olderThanMs !== undefined && committedAtMs < olderThanMs) || (keepNewest !== undefined && i < all.length - keepNewest),
  );
  const newestIsDue = all.length > 0 && due.length === all.length;
  const removable = newestIsDue ? due.slice(0, -1) : due;
  const step = oneStep(removable);
  if (conversation === undefined) return { removed: 0, more: false };
  remove(conversation, step);
  const more = step.length < removable.length;
  if (newestIsDue && !more) expire(state, conversation);
  return { removed: step.length, more };
}

function oneStep(records: readonly MessageRecord[]): ConversationSeq[] {
  const sequences: ConversationSeq[] = [];
  const buckets = new Set<number>();
  for (const { conversationSeq } of records) {
    buckets.add(Math.floor(conversationSeq / RECORD_BUCKET_SIZE));
    if (sequences.length === RETENTION_STEP_RECORDS_MAX || buckets.size > RETENTION_STEP_BUCKETS_MAX) break;
    sequences.push(conversationSeq);
  }
  return sequences;
}

function remove(conversation: MemoryConversation, sequences: readonly ConversationSeq[]): void {
  const { records, amendments, reactions, facts } = conversation;
  const last = sequences.at(-1);
  if (last === undefined) return;
  for (const sequence of sequences) {
    records.delete(sequence);
    amendments.delete(sequence);
    reactions.delete(sequence);
  }
  const previewSequence = facts.previewSequence <= last ? SEQ_ZERO : facts.previewSequence;
  conversation.facts = { ...facts, retainedFrom: parseConversationSeq(last + 1), previewSequence };
}

function expire(state: MemoryState, conversation: MemoryConversation): void {
  const target = conversation.records.get(conversation.facts.lastSequence);
  if (target === undefined || isErased(target.status)) return;
  rewrite(state, conversation, expiredRecord(target, state.now()));
}
