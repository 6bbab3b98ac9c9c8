/**
 * Whom a user blocked, and what members reported. That one was blocked is told to nobody: a refused direct message says no
 * more than that the other does not take it.
 */
import {
  BLOCKED_PAGE_SIZE,
  type Caller,
  invalidArgument,
  notFound,
  payloadTooLarge,
  REPORT_COMMENT_BYTES_MAX,
  REPORTS_PAGE_SIZE_MAX,
  SEQ_ZERO,
  type UserId,
  utf8Bytes,
} from '@qim/proto';
import type { Report } from '@qim/store';
import type { SessionContext } from './context.js';
import type { MessageRef } from './contract.js';
import { readMembership } from './membership.js';
import { decodeBlockedToken, encodeBlockedToken } from './page-token.js';
import { visibilityFloor } from './unread.js';

/** Cost: 1. @throws InvalidArgument (userId, for oneself) | ResourceLimit (BLOCKED_USERS_MAX) */
export async function blockUser(context: SessionContext, { tenantId, userId }: Caller, other: UserId): Promise<void> {
  if (other === userId) throw invalidArgument('userId', 'another user');
  await context.users.block(tenantId, userId, other);
}

/** By the bytes of the ids, BLOCKED_PAGE_SIZE a page. Cost: 1. @throws InvalidArgument (pageToken) */
export async function listBlocked(
  context: SessionContext,
  caller: Caller,
  pageToken: string,
): Promise<{ readonly userIds: readonly UserId[]; readonly nextPageToken: string }> {
  const after = pageToken === '' ? undefined : Buffer.from(decodeBlockedToken(caller, pageToken));
  const all = await context.users.blocked(caller.tenantId, caller.userId);
  const rest = all.filter((userId) => after === undefined || Buffer.from(userId).compare(after) > 0);
  const userIds = rest.slice(0, BLOCKED_PAGE_SIZE);
  const last = userIds.at(-1);
  return { userIds, nextPageToken: rest.length > userIds.length && last !== undefined ? encodeBlockedToken(caller, last) : '' };
}

/**
 * Keeps the place of the message, who sent it and what is said of it, for the admins of the tenant; never its content, which
 * they read where it is. Cost: 3. @throws NotMember | NotFound | PayloadTooLarge (comment) | CorruptRecord | UnsupportedVersion
 */
export async function reportMessage(context: SessionContext, caller: Caller, ref: MessageRef, comment: string): Promise<Report> {
  const { tenantId, userId } = caller;
  const { conversationId, conversationSeq, messageId } = ref;
  if (comment.length > REPORT_COMMENT_BYTES_MAX || utf8Bytes(comment) > REPORT_COMMENT_BYTES_MAX) {
    throw payloadTooLarge('comment', REPORT_COMMENT_BYTES_MAX);
  }
  const [{ member }, view] = await Promise.all([
    readMembership(context, caller, conversationId),
    context.directory.view(tenantId, userId, conversationId),
  ]);
  if (conversationSeq <= visibilityFloor(member, view?.clearedSeq ?? SEQ_ZERO)) throw notFound();
  const [message] = await context.messages.readMessages(tenantId, conversationId, [conversationSeq]);
  if (message?.record.messageId !== messageId) throw notFound();
  const { now, newId } = context.config;
  const report: Report = {
    reportId: newId(),
    reportedAtMs: now(),
    reporterId: userId,
    conversationId,
    conversationSeq,
    messageId,
    senderId: message.record.sender.userId,
    comment,
  };
  await context.users.addReport(tenantId, report);
  return report;
}

/** The newest first; for the tenant's admins. `pageSize` 0: as many as there may be. Cost: 1. @throws InvalidArgument (pageSize) */
export async function listReports(context: SessionContext, { tenantId }: Caller, pageSize: number): Promise<readonly Report[]> {
  if (!Number.isInteger(pageSize) || pageSize < 0 || pageSize > REPORTS_PAGE_SIZE_MAX) {
    throw invalidArgument('pageSize', `an integer 0..${REPORTS_PAGE_SIZE_MAX}`);
  }
  return context.users.reports(tenantId, pageSize === 0 ? REPORTS_PAGE_SIZE_MAX : pageSize);
}
