/** What a commit changes beside its record: members, roles, the title or the settings; judged and planned. */
import {
  type ConversationSeq,
  GROUP_MEMBERS_MAX,
  HistoryVisibility,
  parseConversationSeq,
  Role,
  resourceLimit,
  type UserId,
} from '@qim/proto';
import { aborted } from '../errors.js';
import { formatMember, formatSettings, type StoredFacts } from '../message/facts.js';
import type { CommitRequest, MembershipChange } from '../message/message-store.js';
import type { MemberEntry } from '../message/summary.js';
import type { ConversationReads } from './conversation-reads.js';
import type { Write } from './environment.js';
import type { ConversationKeys } from './keys.js';

const SEQ_ONE = parseConversationSeq(1);

interface PlannedChange {
  readonly facts: StoredFacts;
  readonly writes: readonly Write[];
}

/** `next` is the sequence of the record. @throws Aborted | ResourceLimit | CorruptRecord */
export function planChange(reads: ConversationReads, request: CommitRequest, facts: StoredFacts, next: ConversationSeq): PlannedChange {
  const { change, sender } = request;
  switch (change?.kind) {
    case undefined:
      return { facts, writes: [] };
    case 'title':
      return { facts: { ...facts, title: change.title }, writes: [] };
    case 'settings':
      if (formatSettings(facts.settings) !== formatSettings(change.before)) throw aborted();
      return { facts: { ...facts, settings: change.settings }, writes: [] };
    case 'join': {
      refuseUnlessMayJoin(reads, change.userIds);
      const visibleFrom = facts.settings.historyVisibility === HistoryVisibility.All ? SEQ_ONE : next;
      const entry = { role: Role.Member, joinedSeq: next, visibleFrom };
      return { facts, writes: change.userIds.map((userId) => memberWrite(reads.keys, userId, entry)) };
    }
    case 'leave':
    case 'role':
      return { facts, writes: changedMembers(reads, sender.userId, change) };
  }
}

export function memberWrite(keys: ConversationKeys, userId: UserId, entry: MemberEntry): Write {
  return { key: keys.member(userId), value: Buffer.from(formatMember(entry)) };
}

function refuseUnlessMayJoin(reads: ConversationReads, userIds: readonly UserId[]): void {
  for (const userId of userIds) if (reads.member(userId) !== undefined) throw aborted();
  if (reads.memberCount() + userIds.length > GROUP_MEMBERS_MAX) throw resourceLimit('members', GROUP_MEMBERS_MAX);
}

/** They are members with a role below the sender's, or the sender. */
function changedMembers(reads: ConversationReads, sender: UserId, change: Exclude<MembershipChange, { kind: 'join' }>): Write[] {
  const senderRole = reads.member(sender)?.role ?? 0;
  let ownerGoes = false;
  const writes = change.userIds.map((userId): Write => {
    const member = reads.member(userId);
    if (member === undefined || (userId !== sender && member.role >= senderRole)) throw aborted();
    const stays = change.kind === 'role' ? { ...member, role: change.role } : undefined;
    ownerGoes ||= member.role === Role.Owner && stays?.role !== Role.Owner;
    return stays === undefined ? { key: reads.keys.member(userId), value: undefined } : memberWrite(reads.keys, userId, stays);
  });
  if (ownerGoes) refuseWithoutOwner(reads, change);
  return writes;
}

/** The last member may leave; a role is changed only where somebody else is owner. Everybody is read: an owner goes seldom. */
function refuseWithoutOwner(reads: ConversationReads, { kind, userIds }: MembershipChange): void {
  const others = [...reads.members()].filter(([userId]) => !userIds.includes(userId)).map(([, { role }]) => role);
  if ((others.length > 0 || kind === 'role') && !others.includes(Role.Owner)) throw aborted();
}
