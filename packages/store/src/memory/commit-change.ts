/** What a commit of the reference model changes beside its record: members, roles, the title or the settings. */
import { type ConversationSeq, GROUP_MEMBERS_MAX, HistoryVisibility, parseConversationSeq, Role, resourceLimit } from '@qim/proto';
import { aborted } from '../errors.js';
import { formatSettings } from '../message/facts.js';
import type { CommitRequest } from '../message/message-store.js';
import type { MemoryConversation } from './state.js';

const SEQ_ONE = parseConversationSeq(1);

/** @throws Aborted | ResourceLimit */
export function checkChange({ facts, members }: MemoryConversation, { sender, change }: CommitRequest): void {
  if (change === undefined || change.kind === 'title') return;
  if (change.kind === 'settings') {
    if (formatSettings(facts.settings) !== formatSettings(change.before)) throw aborted();
    return;
  }
  if (change.kind === 'join') {
    if (change.userIds.some((userId) => members.has(userId))) throw aborted();
    if (members.size + change.userIds.length > GROUP_MEMBERS_MAX) throw resourceLimit('members', GROUP_MEMBERS_MAX);
    return;
  }
  const senderRole = members.get(sender.userId)?.role ?? 0;
  for (const userId of change.userIds) {
    const role = members.get(userId)?.role;
    if (role === undefined || (userId !== sender.userId && role >= senderRole)) throw aborted();
  }
  const remaining = [...members].filter(([userId]) => !change.userIds.includes(userId)).map(([, { role }]) => role);
  const after = change.kind === 'role' ? [...remaining, change.role] : remaining;
  const hadOwner = [...members.values()].some(({ role }) => role === Role.Owner);
  if (hadOwner && after.length > 0 && !after.includes(Role.Owner)) throw aborted();
}

/** `conversationSeq` is that of the record. */
export function applyChange(conversation: MemoryConversation, change: CommitRequest['change'], conversationSeq: ConversationSeq): void {
  const { facts, members } = conversation;
  if (change === undefined) return;
  if (change.kind === 'title') {
    conversation.facts = { ...facts, title: change.title };
    return;
  }
  if (change.kind === 'settings') {
    conversation.facts = { ...facts, settings: change.settings };
    return;
  }
  for (const userId of change.userIds) {
    const member = members.get(userId);
    const visibleFrom = facts.settings.historyVisibility === HistoryVisibility.All ? SEQ_ONE : conversationSeq;
    if (change.kind === 'leave') members.delete(userId);
    else if (change.kind === 'join') members.set(userId, { role: Role.Member, joinedSeq: conversationSeq, visibleFrom });
    else if (member !== undefined) members.set(userId, { ...member, role: change.role });
  }
}
