/** The commit step of the reference model: every check first, then every write, without an await between. */
import {
  ConversationKind,
  type ConversationSeq,
  DEDUP_WEEK_MS,
  forbidden,
  type Message,
  MessageType,
  notMember,
  parseConversationSeq,
  Role,
  resourceLimit,
  SEQ_MAX,
} from '@qim/proto';
import { aborted, idempotencyConflict } from '../errors.js';
import { sameFingerprint } from '../message/dedup-entry.js';
import { initialFacts } from '../message/facts.js';
import { requestFingerprint } from '../message/fingerprint.js';
import type { CommitOutcome, CommitRequest, NewConversation } from '../message/message-store.js';
import { committedRecord } from '../message/record.js';
import type { MemberEntry } from '../message/summary.js';
import { outboxKind } from '../outbox/outbox.js';
import { messageAt } from './amend.js';
import { applyChange, checkChange } from './commit-change.js';
import type { MemoryConversation, MemoryState } from './state.js';

const SEQ_ONE = parseConversationSeq(1);

export function commit(state: MemoryState, request: CommitRequest): CommitOutcome {
  const { tenantId, conversationId, create } = request;
  const existing = state.conversation(tenantId, conversationId);
  const duplicate = existing && findDuplicate(state, existing, request);
  if (duplicate !== undefined) return duplicate;
  if (existing === undefined && create === undefined) throw notMember();
  if (existing !== undefined && create?.onlyNew) throw aborted();
  if (existing !== undefined) checkAdmission(existing, request);
  const conversation = existing ?? newConversation(create as NewConversation);
  checkChange(conversation, request);
  const { facts } = conversation;
  const next = Math.max(facts.lastSequence, facts.reservedThrough) + 1;
  if (next > SEQ_MAX) throw resourceLimit('sequences', SEQ_MAX);

  const created = existing === undefined;
  if (created) state.addConversation(tenantId, conversationId, conversation);
  return write(state, conversation, request, parseConversationSeq(next), created);
}

function write(
  state: MemoryState,
  conversation: MemoryConversation,
  request: CommitRequest,
  conversationSeq: ConversationSeq,
  created: boolean,
): CommitOutcome {
  const { facts } = conversation;
  const committedAtMs = Math.max(state.now(), facts.lastCommittedAtMs);
  const record = committedRecord(request, { conversationSeq, prevSequence: facts.lastSequence, committedAtMs });
  conversation.records.set(conversationSeq, record);
  conversation.facts = {
    ...facts,
    lastSequence: conversationSeq,
    lastCommittedAtMs: committedAtMs,
    previewSequence: request.type === MessageType.Control ? facts.previewSequence : conversationSeq,
  };
  applyChange(conversation, request.change, conversationSeq);
  const { messageId, activityId, tenantId, conversationId } = request;
  const entry = { conversationSeq, messageId, activityId, committedAtMs, fingerprint: requestFingerprint(request) };
  conversation.dedup.set(dedupKey(request), { ...entry, week: weekOf(state) });
  const kind = created ? 'created' : outboxKind(request.change);
  state.addEntry({ kind, tenantId, conversationId, conversationSeq });
  return { duplicate: false, conversationSeq, messageId, activityId, committedAtMs, created, message: { record, epoch: facts.epoch } };
}

function dedupKey(request: CommitRequest): string {
  return JSON.stringify([request.sender.userId, request.clientMessageId]);
}

function weekOf(state: MemoryState): number {
  return Math.floor(state.now() / DEDUP_WEEK_MS);
}

function findDuplicate(state: MemoryState, conversation: MemoryConversation, request: CommitRequest): CommitOutcome | undefined {
  const entry = conversation.dedup.get(dedupKey(request));
  if (entry === undefined || Math.abs(weekOf(state) - entry.week) > 1) return undefined;
  if (!sameFingerprint(entry.fingerprint, requestFingerprint(request))) throw idempotencyConflict();
  const mayRead = request.needs === 'system' || conversation.members.has(request.sender.userId);
  const record = mayRead ? conversation.records.get(entry.conversationSeq) : undefined;
  const { conversationSeq, messageId, activityId, committedAtMs } = entry;
  const message: Message | undefined = record && messageAt(conversation, record);
  return { duplicate: true, conversationSeq, messageId, activityId, committedAtMs, created: false, message };
}

function newConversation({ kind, title, settings, members }: NewConversation): MemoryConversation {
  const pair = kind === ConversationKind.Direct ? members.map((member) => member.userId) : [];
  return {
    facts: initialFacts(kind, title, settings, pair),
    members: new Map(
      members.map(({ userId, role }): [typeof userId, MemberEntry] => [userId, { role, joinedSeq: SEQ_ONE, visibleFrom: SEQ_ONE }]),
    ),
    records: new Map(),
    dedup: new Map(),
    amendments: new Map(),
    reactions: new Map(),
  };
}

function checkAdmission(conversation: MemoryConversation, request: CommitRequest): void {
  if (request.needs === 'system') return;
  const member = conversation.members.get(request.sender.userId);
  if (member === undefined) throw notMember();
  const { onlyAdminsPost } = conversation.facts.settings;
  const needs = request.needs === 'post' ? (onlyAdminsPost ? 'admin' : 'member') : request.needs;
  const least = { member: Role.Member, admin: Role.Admin, owner: Role.Owner }[needs];
  if (member.role < least) throw forbidden(needs);
}

/** Leaves a hole after the newest record. */
export function skipSequences(conversation: MemoryConversation, count: number): void {
  const { facts } = conversation;
  const from = Math.max(facts.lastSequence, facts.reservedThrough);
  conversation.facts = { ...facts, reservedThrough: parseConversationSeq(from + count) };
}
