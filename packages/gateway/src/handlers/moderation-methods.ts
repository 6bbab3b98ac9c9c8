/** ModerationService, and the admins' look at what was reported. The log has each report, without what was said of it. */
import { parseUserId } from '@qim/proto';
import { AdminService, ModerationService } from '@qim/proto/schema';
import type { Session } from '@qim/session';
import { AUDIT } from '../audit.js';
import type { GatewayLog } from '../contract.js';
import { targetRef } from '../from-wire.js';
import { type Method, method } from '../method.js';

export function moderationMethods(session: Session, log: GatewayLog): readonly Method[] {
  const { blockUser, unblockUser, listBlocked, reportMessage } = ModerationService.method;
  return [
    method(blockUser, async ({ caller }, { userId }) => {
      await session.blockUser(caller, parseUserId(userId));
      return {};
    }),
    method(unblockUser, async ({ caller }, { userId }) => {
      await session.unblockUser(caller, parseUserId(userId));
      return {};
    }),
    method(listBlocked, async ({ caller }, { pageToken }) => {
      const { userIds, nextPageToken } = await session.listBlocked(caller, pageToken);
      return { userIds: [...userIds], nextPageToken };
    }),
    method(reportMessage, async ({ caller, requestId }, request) => {
      const { reportId, conversationId, conversationSeq } = await session.reportMessage(caller, targetRef(request), request.comment);
      const { tenantId: tenant, userId: reporter } = caller;
      log.info({ ...AUDIT, requestId, tenant, reporter, reportId, conversationId, conversationSeq }, 'a message was reported');
      return {};
    }),
    method(AdminService.method.listReports, async ({ caller }, { pageSize }) => ({
      reports: (await session.listReports(caller, pageSize)).map((report) => ({
        ...report,
        reportedAtMs: BigInt(report.reportedAtMs),
        conversationSeq: BigInt(report.conversationSeq),
      })),
    })),
  ];
}
