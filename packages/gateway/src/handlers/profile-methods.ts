/** ProfileService, and what an admin may set for others. */
import { parseUserId } from '@qim/proto';
import { AdminService, ProfileService } from '@qim/proto/schema';
import type { Session } from '@qim/session';
import { type Method, method } from '../method.js';

export function profileMethods(session: Session): readonly Method[] {
  const { setProfile, getProfiles } = ProfileService.method;
  return [
    method(setProfile, async ({ caller }, { displayName, avatarUrl }) => ({
      profile: await session.setProfile(caller, { displayName, avatarUrl }),
    })),
    method(getProfiles, async ({ caller }, request) => {
      const userIds = request.userIds.map((userId) => parseUserId(userId, 'userIds'));
      return { profiles: [...(await session.getProfiles(caller, userIds))] };
    }),
    method(AdminService.method.setProfile, async ({ caller }, { userId, profile }) => {
      const of = { ...caller, userId: parseUserId(userId) };
      const { displayName = '', avatarUrl = '' } = profile ?? {};
      return { profile: await session.setProfile(of, { displayName, avatarUrl }) };
    }),
  ];
}
