/** AdminService, of single users. That the token has `admin: true` was checked before any of this runs; each is noted in the log. */
import { parseDeviceId, parseUserId } from '@qim/proto';
import { AdminService } from '@qim/proto/schema';
import type { Session } from '@qim/session';
import type { Writer } from '@qim/writer';
import type { GatewayLog } from '../contract.js';
import { type Method, method } from '../method.js';
import { wireConversation } from '../to-wire.js';

export function userMethods(writer: Writer, session: Session, log: GatewayLog): readonly Method[] {
  const { suspendUser, deleteUser, listConversationsOf } = AdminService.method;
  return [
    method(suspendUser, async ({ caller, requestId }, { userId, deviceId, suspended }) => {
      const user = parseUserId(userId);
      const device = deviceId === '' ? undefined : parseDeviceId(deviceId);
      await session.suspendUser(caller, user, device, suspended);
      log.info(
        { requestId, tenant: caller.tenantId, admin: caller.userId, user, device, suspended },
        'a user was suspended, or no longer is',
      );
      return {};
    }),
    method(deleteUser, async ({ caller, requestId }, { userId }) => {
      const user = parseUserId(userId);
      // Nobody writes anything for the user while it goes.
      await session.suspendUser(caller, user, undefined, true);
      await writer.deleteUser(caller, user);
      log.info({ requestId, tenant: caller.tenantId, admin: caller.userId, user }, 'a user was deleted');
      return {};
    }),
    method(listConversationsOf, async ({ caller }, { userId, pageSize, pageToken }) => {
      const page = await session.listConversations({ ...caller, userId: parseUserId(userId) }, { pageSize, pageToken, explain: false });
      return {
        conversations: page.conversations.map(wireConversation),
        nextPageToken: page.nextPageToken,
        damagedCount: page.damagedCount,
      };
    }),
  ];
}
