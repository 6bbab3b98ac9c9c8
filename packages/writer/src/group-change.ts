/**
 * One change of a group: a Control record and what it says, in one commit step. What was read before only shapes the
 * request; the step refuses with `Aborted` when it no longer holds, and then it is read and decided again.
 */
import {
  AMEND_TRIES_MAX,
  type Caller,
  type ClientMessageId,
  type Control,
  type ConversationId,
  ConversationKind,
  forbidden,
  invalidArgument,
  isQimError,
  MessageType,
  parseActivityId,
  parseClientMessageId,
  parseMessageId,
  Role,
  type UserId,
} from '@qim/proto';
import type { CommitOutcome, CommitRequest, MemberEntry } from '@qim/store';
import { type ListChange, updateLists } from './after-commit.js';
import type { WriterDeps } from './ports.js';
import { type Membership, readMembership } from './target.js';

export type Members = ReadonlyMap<UserId, MemberEntry>;

export interface PlannedChange {
  readonly needs: CommitRequest['needs'];
  readonly control: Control;
  readonly change: NonNullable<CommitRequest['change']>;
  readonly lists?: (outcome: CommitOutcome) => ListChange;
}

/** `plan` decides on what was just read; undefined: nothing to do. */
export async function changeGroup(
  deps: WriterDeps,
  caller: Caller,
  conversationId: ConversationId,
  plan: (membership: Membership) => Promise<PlannedChange | undefined>,
): Promise<void> {
  const key = freshKey(deps);
  for (let tries = 1; ; tries += 1) {
    const membership = await readMembership(deps, caller, conversationId);
    if (membership.facts.kind !== ConversationKind.Group) throw invalidArgument('conversationId', 'a group');
    const planned = await plan(membership);
    if (planned === undefined) return;
    const { control, needs, change, lists } = planned;
    try {
      const outcome = await deps.messages.commit({ ...controlRequest(deps, caller, conversationId, key, control), needs, change });
      await updateLists(deps, caller, conversationId, outcome, lists?.(outcome) ?? {});
      return;
    } catch (error) {
      if (!isQimError(error) || error.code !== 'Aborted' || tries === AMEND_TRIES_MAX) throw error;
    }
  }
}

export function controlRequest(
  deps: WriterDeps,
  { tenantId, userId, deviceId }: Caller,
  conversationId: ConversationId,
  clientMessageId: ClientMessageId,
  control: Control,
): Omit<CommitRequest, 'needs'> {
  return {
    tenantId,
    conversationId,
    sender: { userId, deviceId },
    clientMessageId,
    messageId: parseMessageId(deps.newId()),
    activityId: parseActivityId(deps.newId()),
    type: MessageType.Control,
    content: { kind: 'control', control },
    mentions: { userIds: [], all: false },
    replyTo: undefined,
  };
}

/** Called only once the caller's own membership was read. */
export function readMembers(deps: WriterDeps, { tenantId }: Caller, conversationId: ConversationId): Promise<Members> {
  return deps.messages.readMembers(tenantId, conversationId);
}

export function freshKey(deps: WriterDeps): ClientMessageId {
  return parseClientMessageId(deps.newId());
}

/** A group of others keeps an owner: `userId` may go or step down only where there is another. @throws Forbidden */
export function refuseLastOwner(members: Members, userId: UserId): void {
  const others = [...members].filter(([id]) => id !== userId);
  if (!others.some(([, entry]) => entry.role === Role.Owner)) throw forbidden('another owner first');
}
