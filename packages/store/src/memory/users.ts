/** Profiles, blocks, suspensions and reports of the reference model. */
import {
  BLOCKED_USERS_MAX,
  REPORTS_KEPT_MAX,
  resourceLimit,
  SUSPENDED_DEVICES_MAX,
  type TenantId,
  type UserId,
  WEB_PUSH_PER_USER_MAX,
} from '@qim/proto';
import { byBytes, tooManyDevices, tooManySubscriptions, WHOLE_USER } from '../users/stored.js';
import type { Report, StoredProfile, Users, WebPushSubscription } from '../users/users.js';

interface Person {
  profile: StoredProfile | undefined;
  readonly blocked: Set<UserId>;
  readonly suspended: Set<string>;
  subscriptions: readonly WebPushSubscription[];
}

export function memoryUsers(): Users {
  const people = new Map<string, Person>();
  const reports = new Map<TenantId, Report[]>();
  const personOf = (tenantId: TenantId, userId: UserId): Person => {
    const key = `${tenantId} ${userId}`;
    const person = people.get(key) ?? { profile: undefined, blocked: new Set(), suspended: new Set(), subscriptions: [] };
    people.set(key, person);
    return person;
  };

  return {
    profiles: async (tenantId, userIds) => userIds.map((userId) => personOf(tenantId, userId).profile),
    async setProfile(tenantId, userId, profile) {
      personOf(tenantId, userId).profile = profile;
    },
    async block(tenantId, userId, other) {
      const { blocked } = personOf(tenantId, userId);
      if (!blocked.has(other) && blocked.size >= BLOCKED_USERS_MAX) throw resourceLimit('blocked users', BLOCKED_USERS_MAX);
      blocked.add(other);
    },
    async unblock(tenantId, userId, other) {
      personOf(tenantId, userId).blocked.delete(other);
    },
    blocked: async (tenantId, userId) => [...personOf(tenantId, userId).blocked].sort(byBytes),
    hasBlocked: async (tenantId, userId, other) => personOf(tenantId, userId).blocked.has(other),
    async suspend(tenantId, userId, deviceId, on) {
      const { suspended } = personOf(tenantId, userId);
      const name = deviceId ?? WHOLE_USER;
      if (!on) suspended.delete(name);
      else if (!suspended.has(name) && suspended.size > SUSPENDED_DEVICES_MAX) throw tooManyDevices();
      else suspended.add(name);
    },
    async isSuspended(tenantId, userId, deviceId) {
      const { suspended } = personOf(tenantId, userId);
      return suspended.has(WHOLE_USER) || (deviceId !== undefined && suspended.has(deviceId));
    },
    async addReport(tenantId, report) {
      reports.set(tenantId, [report, ...(reports.get(tenantId) ?? [])].slice(0, REPORTS_KEPT_MAX));
    },
    reports: async (tenantId, limit) => (reports.get(tenantId) ?? []).slice(0, limit),
    async addWebPush(tenantId, userId, subscription) {
      const person = personOf(tenantId, userId);
      const { endpoint, deviceId } = subscription;
      const others = person.subscriptions.filter(
        (other) => other.endpoint !== endpoint && (deviceId === undefined || other.deviceId !== deviceId),
      );
      if (others.length >= WEB_PUSH_PER_USER_MAX) throw tooManySubscriptions();
      person.subscriptions = [...others, subscription];
    },
    async removeWebPush(tenantId, userId, endpoint) {
      const person = personOf(tenantId, userId);
      person.subscriptions = person.subscriptions.filter((other) => other.endpoint !== endpoint);
    },
    webPush: async (tenantId, userIds) => userIds.map((userId) => personOf(tenantId, userId).subscriptions),
    async erase(tenantId, userId) {
      const person = personOf(tenantId, userId);
      person.profile = undefined;
      person.blocked.clear();
      person.subscriptions = [];
    },
  };
}
