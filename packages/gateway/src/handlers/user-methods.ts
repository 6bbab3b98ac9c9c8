/** AdminService, of single users. That the token has `admin: true` was checked before any of this runs; each is in the audit log. */
import { parseDeviceId, parseUserId } from '@qim/proto';
import { AdminService } from '@qim/proto/schema';
import type { Session } from '@qim/session';
import type { Writer } from '@qim/writer';
import { type Method, method } from '../method.js';
import { wireConversation } from '../to-wire.js';

export function userMethods(writer: Writer, session: Session): readonly Method[] {
  const { suspendUser, deleteUser, listConversationsOf } = AdminService.method;
  return [
    method(suspendUser, async ({ caller }, { userId, deviceId, suspended }) => {
      const user = parseUserId(userId);
      const device = deviceId === '' ? undefined : parseDeviceId(deviceId);
      await session.suspendUser(caller, user, device, suspended);
      return {};
    }),
    method(deleteUser, async ({ caller }, { userId }) => {
      const user = parseUserId(userId);
      // Nobody writes anything for the user while it goes.
      await session.suspendUser(caller, user, undefined, true);
      await writer.deleteUser(caller, user);
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
