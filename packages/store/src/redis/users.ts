/** Profiles, blocks, suspensions, subscriptions and reports on Redis: a string, two sets, a hash and a list. */
import {
  BLOCKED_USERS_MAX,
  type DeviceId,
  isQimError,
  parseUserId,
  REPORTS_KEPT_MAX,
  resourceLimit,
  SUSPENDED_DEVICES_MAX,
  type TenantId,
  type UserId,
  WEB_PUSH_PER_USER_MAX,
} from '@qim/proto';
import {
  byBytes,
  formatProfile,
  formatReport,
  formatWebPush,
  parseProfile,
  parseReport,
  parseWebPush,
  tooManyDevices,
  tooManySubscriptions,
  WHOLE_USER,
  webPushName,
  webPushPrefix,
  webPushSuffix,
} from '../users/stored.js';
import type { Report, StoredProfile, Users, WebPushSubscription } from '../users/users.js';
import { type Command, isWrongType, type Reply } from './connection.js';
import type { RedisContext } from './context.js';
import { reportsKey, userKeys } from './keys.js';
import { asArray, asOptionalText, asText, rightTypeOf } from './replies.js';

const rightType = rightTypeOf('a user');

export class RedisUsers implements Users {
  readonly #context: Pick<RedisContext, 'connection' | 'scripts'>;

  constructor(context: Pick<RedisContext, 'connection' | 'scripts'>) {
    this.#context = context;
  }

  async profiles(tenantId: TenantId, userIds: readonly UserId[]): Promise<readonly (StoredProfile | undefined)[]> {
    if (userIds.length === 0) return [];
    const commands = userIds.map((userId): Command => ['GET', userKeys(tenantId, userId).profile]);
    const replies = await this.#context.connection.pipeline(commands);
    return replies.map((reply) => {
      // A profile is no truth of anybody's: one that cannot be read is one that was not set.
      const text = isWrongType(reply) ? undefined : asOptionalText(reply);
      return text === undefined ? undefined : parseProfile(text);
    });
  }

  async setProfile(tenantId: TenantId, userId: UserId, profile: StoredProfile): Promise<void> {
    await this.#call('SET', userKeys(tenantId, userId).profile, formatProfile(profile));
  }

  async block(tenantId: TenantId, userId: UserId, blocked: UserId): Promise<void> {
    const added = await this.#add(userKeys(tenantId, userId).blocks, blocked, BLOCKED_USERS_MAX);
    if (!added) throw resourceLimit('blocked users', BLOCKED_USERS_MAX);
  }

  async unblock(tenantId: TenantId, userId: UserId, blocked: UserId): Promise<void> {
    await this.#call('SREM', userKeys(tenantId, userId).blocks, blocked);
  }

  async blocked(tenantId: TenantId, userId: UserId): Promise<readonly UserId[]> {
    const names = asArray(await this.#call('SMEMBERS', userKeys(tenantId, userId).blocks)).map(asText);
    return names.flatMap(userIdFrom).sort(byBytes);
  }

  async hasBlocked(tenantId: TenantId, userId: UserId, other: UserId): Promise<boolean> {
    return (await this.#call('SISMEMBER', userKeys(tenantId, userId).blocks, other)) === 1;
  }

  async suspend(tenantId: TenantId, userId: UserId, deviceId: DeviceId | undefined, suspended: boolean): Promise<void> {
    const key = userKeys(tenantId, userId).suspended;
    const name = deviceId ?? WHOLE_USER;
    if (!suspended) await this.#call('SREM', key, name);
    // One more than the devices: the user as a whole.
    else if (!(await this.#add(key, name, SUSPENDED_DEVICES_MAX + 1))) throw tooManyDevices();
  }

  async isSuspended(tenantId: TenantId, userId: UserId, deviceId: DeviceId | undefined): Promise<boolean> {
    const names = deviceId === undefined ? [WHOLE_USER] : [WHOLE_USER, deviceId];
    return asArray(await this.#call('SMISMEMBER', userKeys(tenantId, userId).suspended, ...names)).includes(1);
  }

  async addReport(tenantId: TenantId, report: Report): Promise<void> {
    const key = reportsKey(tenantId);
    const replies = await this.#context.connection.atomically([
      ['LPUSH', key, formatReport(report)],
      ['LTRIM', key, '0', String(REPORTS_KEPT_MAX - 1)],
    ]);
    replies.forEach(rightType);
  }

  async reports(tenantId: TenantId, limit: number): Promise<readonly Report[]> {
    const texts = asArray(await this.#call('LRANGE', reportsKey(tenantId), '0', String(limit - 1)));
    return texts.flatMap((text) => parseReport(asText(text)) ?? []);
  }

  async addWebPush(tenantId: TenantId, userId: UserId, subscription: WebPushSubscription): Promise<void> {
    const prefix = subscription.deviceId === undefined ? '' : webPushPrefix(subscription);
    const named = [prefix, webPushSuffix(subscription.endpoint), webPushName(subscription)];
    const args = [...named, formatWebPush(subscription), String(WEB_PUSH_PER_USER_MAX)];
    const kept = rightType(await this.#context.scripts.run('user-web-push', [userKeys(tenantId, userId).webPush], args));
    if (kept !== 1) throw tooManySubscriptions();
  }

  async removeWebPush(tenantId: TenantId, userId: UserId, endpoint: string): Promise<void> {
    const key = userKeys(tenantId, userId).webPush;
    const names = asArray(await this.#call('HKEYS', key)).map(asText);
    const removed = names.filter((name) => name.endsWith(webPushSuffix(endpoint)));
    if (removed.length > 0) await this.#call('HDEL', key, ...removed);
  }

  async webPush(tenantId: TenantId, userIds: readonly UserId[]): Promise<readonly (readonly WebPushSubscription[])[]> {
    if (userIds.length === 0) return [];
    const replies = await this.#context.connection.pipeline(
      userIds.map((userId): Command => ['HVALS', userKeys(tenantId, userId).webPush]),
    );
    // As of a profile: what cannot be read was not set.
    return replies.map((reply) => (isWrongType(reply) ? [] : asArray(reply).flatMap((text) => parseWebPush(asText(text)) ?? [])));
  }

  async erase(tenantId: TenantId, userId: UserId): Promise<void> {
    const { profile, blocks, webPush } = userKeys(tenantId, userId);
    await this.#call('DEL', profile, blocks, webPush);
  }

  async #add(key: string, name: string, max: number): Promise<boolean> {
    return rightType(await this.#context.scripts.run('user-add', [key], [name, String(max)])) === 1;
  }

  async #call(...command: Command): Promise<Reply> {
    return rightType(await this.#context.connection.call(...command));
  }
}

/** None for a name that no code of ours wrote. */
function userIdFrom(name: string): UserId[] {
  try {
    return [parseUserId(name)];
  } catch (error) {
    if (isQimError(error)) return [];
    throw error;
  }
}
