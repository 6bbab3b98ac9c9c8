/**
 * What follows a commit before its answer: the caller's own list (and a new or grown conversation's first members'), so
 * that 'send, then list' holds, and the sender's read mark.
 *
 * None of it can undo the commit, so none of it may fail the call: a failure is told to the observer. The outbox brings
 * the lists up to date later; a read mark that was lost is sent again by the next MarkRead.
 */
import { type Caller, type ConversationId, type ConversationSeq, TOUCH_BEFORE_ANSWER_MAX, type UserId } from '@qim/proto';
import type { CommitOutcome, JoinedUser } from '@qim/store';
import type { WriterDeps } from './ports.js';

type Deps = Pick<WriterDeps, 'directory' | 'announceRead' | 'observer'>;

export interface ListChange {
  /** Beside the caller, whose place is first. At most TOUCH_BEFORE_ANSWER_MAX are written. */
  readonly joined?: readonly JoinedUser[];
  readonly left?: readonly UserId[];
}

/** Moves the caller's entry up, if the commit did not, or applies the change. Never throws. Cost: 1, or 0. */
export async function updateLists(
  deps: Deps,
  caller: Caller,
  conversationId: ConversationId,
  outcome: CommitOutcome,
  change: ListChange,
): Promise<void> {
  const { tenantId, userId } = caller;
  const activity = { conversationSeq: outcome.conversationSeq, activityAtMs: outcome.committedAtMs };
  const joined = (change.joined ?? []).slice(0, TOUCH_BEFORE_ANSWER_MAX);
  const left = change.left ?? [];
  const work: Promise<void>[] = [];
  if (joined.length > 0) work.push(deps.directory.join(tenantId, conversationId, joined, activity));
  if (left.length > 0) work.push(deps.directory.leave(tenantId, conversationId, left, outcome.conversationSeq));
  const touched = outcome.senderTouched === true || left.includes(userId) || joined.some((user) => user.userId === userId);
  if (!touched) {
    work.push(deps.directory.touch(tenantId, conversationId, [userId], activity));
  }
  await settle(deps, work);
}

/**
 * Raises the sender's mark to what was on screen, which is never past the message just sent: messages of others that
 * arrived meanwhile stay unread. 0: not told. Never throws. Cost: 0 or 2.
 */
export async function applyReadMark(
  deps: Deps,
  caller: Caller,
  conversationId: ConversationId,
  asked: ConversationSeq,
  ownSeq: ConversationSeq,
): Promise<void> {
  if (asked === 0) return;
  const bounded = asked < ownSeq ? asked : ownSeq;
  await settle(deps, [raise(deps, caller, conversationId, bounded)]);
}

async function raise(deps: Deps, { tenantId, userId }: Caller, conversationId: ConversationId, readSeq: ConversationSeq): Promise<void> {
  const before = (await deps.directory.view(tenantId, userId, conversationId))?.readSeq ?? 0;
  const now = await deps.directory.raiseRead(tenantId, userId, conversationId, readSeq);
  if (now > before) deps.announceRead(tenantId, userId, conversationId, now);
}

async function settle(deps: Deps, work: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) {
    if (result.status === 'rejected') deps.observer?.afterCommitFailed?.(result.reason);
  }
}
