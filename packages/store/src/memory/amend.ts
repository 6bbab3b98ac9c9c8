/** The steps of the reference model that change what was committed: every check first, then every write. */
import {
  type ConversationSeq,
  forbidden,
  type Message,
  type MessageRecord,
  notMember,
  type Reactions,
  Role,
  type UserId,
} from '@qim/proto';
import type { AmendOutcome, AmendRequest, ReactionsOf, ReactRequest } from '../message/message-store.js';
import { reactionsAfter } from '../message/reactions.js';
import { amendedRecord, changesNothing, isErased } from '../message/record.js';
import type { MemoryConversation, MemoryState } from './state.js';

export function amend(state: MemoryState, request: AmendRequest): AmendOutcome {
  const conversation = admitted(state, request.target, request.actor, request.needs);
  const target = unchanged(conversation, request.target);
  if (target === undefined) return { kind: 'changed' };
  if (changesNothing(request)) return { kind: 'amended', message: messageAt(conversation, target) };
  const record = amendedRecord({ ...request, target }, state.now());
  rewrite(state, conversation, record);
  return { kind: 'amended', message: messageAt(conversation, record) };
}

export function react(state: MemoryState, request: ReactRequest): AmendOutcome {
  const conversation = admitted(state, request.target, request.actor, 'member');
  const target = unchanged(conversation, request.target);
  if (target === undefined) return { kind: 'changed' };
  const after = reactionsAfter(conversation.reactions.get(target.conversationSeq), request);
  if (after !== undefined) {
    conversation.reactions.set(target.conversationSeq, after);
    noteAmendment(state, conversation, target);
  }
  return { kind: 'amended', message: messageAt(conversation, target) };
}

function admitted(
  state: MemoryState,
  { tenantId, conversationId }: MessageRecord,
  actor: UserId,
  needs: AmendRequest['needs'],
): MemoryConversation {
  const conversation = state.conversation(tenantId, conversationId);
  const member = conversation?.members.get(actor);
  if (conversation === undefined || member === undefined) throw notMember();
  if (needs === 'admin' && member.role < Role.Admin) throw forbidden('admin');
  return conversation;
}

function unchanged({ records }: MemoryConversation, { conversationSeq, activityId }: MessageRecord): MessageRecord | undefined {
  const stored = records.get(conversationSeq);
  return stored?.activityId === activityId ? stored : undefined;
}

/** The record in its place; reactions go with its content. */
export function rewrite(state: MemoryState, conversation: MemoryConversation, record: MessageRecord): void {
  conversation.records.set(record.conversationSeq, record);
  if (isErased(record.status)) conversation.reactions.delete(record.conversationSeq);
  noteAmendment(state, conversation, record);
}

function noteAmendment(state: MemoryState, conversation: MemoryConversation, record: MessageRecord): void {
  const { tenantId, conversationId, conversationSeq } = record;
  const amendmentNumber = conversation.facts.amendmentNumber + 1;
  conversation.facts = { ...conversation.facts, amendmentNumber };
  conversation.amendments.set(conversationSeq, amendmentNumber);
  state.addEntry({ kind: 'amended', tenantId, conversationId, conversationSeq });
}

export function messageAt({ facts, reactions }: MemoryConversation, record: MessageRecord): Message {
  return { record, epoch: facts.epoch, reactions: reactions.get(record.conversationSeq) };
}

/** Of those records that have any. */
export function reactionsOf({ reactions }: MemoryConversation, records: readonly MessageRecord[]): ReactionsOf {
  const found = new Map<ConversationSeq, Reactions>();
  for (const { conversationSeq } of records) {
    const held = reactions.get(conversationSeq);
    if (held !== undefined) found.set(conversationSeq, held);
  }
  return found;
}
