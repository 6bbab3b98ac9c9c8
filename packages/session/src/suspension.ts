/** Whom the tenant's admins keep out: kept in the store, asked with every token, and told to what is open. */
import type { Caller, DeviceId, UserId } from '@qim/proto';
import type { SessionContext } from './context.js';

/** `deviceId` undefined: the whole user. Sockets that are open anywhere are closed. Cost: 1. @throws ResourceLimit */
export async function suspendUser(
  context: SessionContext,
  { tenantId }: Caller,
  userId: UserId,
  deviceId: DeviceId | undefined,
  suspended: boolean,
): Promise<void> {
  await context.users.suspend(tenantId, userId, deviceId, suspended);
  if (suspended) context.config.announceSuspended(tenantId, userId, deviceId);
}
