/** One step of retention in the reference model. */
import { type ConversationId, type ConversationSeq, parseConversationSeq, SEQ_ZERO, type TenantId } from '@qim/proto';
import type { RetentionOutcome, RetentionPolicy } from '../message/message-store.js';
import { expiredRecord, isErased } from '../message/record.js';
import { planRemoval, RETENTION_LOOK_MAX } from '../message/retention.js';
import type { MemoryConversation, MemoryState } from './state.js';

export function retain(state: MemoryState, tenantId: TenantId, conversationId: ConversationId, policy: RetentionPolicy): RetentionOutcome {
  const conversation = state.conversation(tenantId, conversationId);
  if (conversation === undefined) return { removed: 0, more: false };
  const dated = [...conversation.records.values()].map(({ conversationSeq, committedAtMs }) => ({
    sequence: conversationSeq,
    committedAtMs,
  }));
  const newest = dated.at(-1);
  if (newest === undefined) return { removed: 0, more: false };
  const removal = planRemoval(policy, dated.slice(0, -1).slice(0, RETENTION_LOOK_MAX), newest, dated.length);
  remove(conversation, removal.sequences);
  if (removal.reachesNewest) expire(state, conversation, newest.sequence);
  return { removed: removal.sequences.length, more: removal.more };
}

function remove(conversation: MemoryConversation, sequences: readonly ConversationSeq[]): void {
  const { records, amendments, facts } = conversation;
  const last = sequences.at(-1);
  if (last === undefined) return;
  for (const sequence of sequences) {
    records.delete(sequence);
    amendments.delete(sequence);
  }
  const previewSequence = facts.previewSequence <= last ? SEQ_ZERO : facts.previewSequence;
  conversation.facts = { ...facts, retainedFrom: parseConversationSeq(last + 1), previewSequence };
}

function expire(state: MemoryState, conversation: MemoryConversation, newest: ConversationSeq): void {
  const { records, amendments, facts } = conversation;
  const target = records.get(newest);
  if (target === undefined || isErased(target.status)) return;
  const { tenantId, conversationId, conversationSeq } = target;
  records.set(newest, expiredRecord(target, state.now()));
  conversation.facts = { ...facts, amendmentNumber: facts.amendmentNumber + 1 };
  amendments.set(newest, conversation.facts.amendmentNumber);
  state.addEntry({ kind: 'amended', tenantId, conversationId, conversationSeq });
}
