/** Profiles, blocks, suspensions and reports on LMDB. */
import {
  BLOCKED_USERS_MAX,
  type DeviceId,
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
  isReplaced,
  parseProfile,
  parseReport,
  parseWebPush,
  tooManyDevices,
  tooManySubscriptions,
  WHOLE_USER,
  webPushName,
  webPushSuffix,
} from '../users/stored.js';
import type { Report, StoredProfile, Users, WebPushSubscription } from '../users/users.js';
import type { Environment, FaultHook, Snapshot, Write } from './environment.js';
import { everythingUnder, NUMBER_BYTES, reportKey, reportPrefix, UserKeys, userIdFrom } from './keys.js';
import { counterFrom, textFrom } from './values.js';

const NOTHING = new Uint8Array(0);

export interface EmbeddedUsersOptions {
  readonly environment: Environment;
  readonly faults: FaultHook | undefined;
}

export class EmbeddedUsers implements Users {
  readonly #options: EmbeddedUsersOptions;

  constructor(options: EmbeddedUsersOptions) {
    this.#options = options;
  }

  async profiles(tenantId: TenantId, userIds: readonly UserId[]): Promise<readonly (StoredProfile | undefined)[]> {
    return this.#options.environment.read((snapshot) =>
      userIds.map((userId) => {
        const value = snapshot.get(new UserKeys(tenantId, userId).profile);
        return value === undefined ? undefined : parseProfile(textFrom(value));
      }),
    );
  }

  setProfile(tenantId: TenantId, userId: UserId, profile: StoredProfile): Promise<void> {
    return this.#write('setProfile', () => [{ key: new UserKeys(tenantId, userId).profile, value: Buffer.from(formatProfile(profile)) }]);
  }

  block(tenantId: TenantId, userId: UserId, blocked: UserId): Promise<void> {
    const keys = new UserKeys(tenantId, userId);
    return this.#write('block', (snapshot) => {
      const full = () => resourceLimit('blocked users', BLOCKED_USERS_MAX);
      return added(snapshot, keys.blockPrefix, keys.block(blocked), BLOCKED_USERS_MAX, full);
    });
  }

  unblock(tenantId: TenantId, userId: UserId, blocked: UserId): Promise<void> {
    return this.#write('unblock', () => [{ key: new UserKeys(tenantId, userId).block(blocked), value: undefined }]);
  }

  async blocked(tenantId: TenantId, userId: UserId): Promise<readonly UserId[]> {
    const { blockPrefix } = new UserKeys(tenantId, userId);
    return this.#options.environment.read((snapshot) =>
      snapshot
        .keys(everythingUnder(blockPrefix), BLOCKED_USERS_MAX)
        .flatMap((key) => userIdFrom(key.subarray(blockPrefix.length)) ?? [])
        .sort(byBytes),
    );
  }

  async hasBlocked(tenantId: TenantId, userId: UserId, other: UserId): Promise<boolean> {
    const key = new UserKeys(tenantId, userId).block(other);
    return this.#options.environment.read((snapshot) => snapshot.get(key) !== undefined);
  }

  suspend(tenantId: TenantId, userId: UserId, deviceId: DeviceId | undefined, suspended: boolean): Promise<void> {
    const keys = new UserKeys(tenantId, userId);
    const key = keys.suspended(deviceId ?? WHOLE_USER);
    return this.#write('suspend', (snapshot) => {
      if (!suspended) return [{ key, value: undefined }];
      // One more than the devices: the user as a whole.
      return added(snapshot, keys.suspendedPrefix, key, SUSPENDED_DEVICES_MAX + 1, tooManyDevices);
    });
  }

  async isSuspended(tenantId: TenantId, userId: UserId, deviceId: DeviceId | undefined): Promise<boolean> {
    const keys = new UserKeys(tenantId, userId);
    const names = deviceId === undefined ? [WHOLE_USER] : [WHOLE_USER, deviceId];
    return this.#options.environment.read((snapshot) => names.some((name) => snapshot.get(keys.suspended(name)) !== undefined));
  }

  addReport(tenantId: TenantId, report: Report): Promise<void> {
    const prefix = reportPrefix(tenantId);
    return this.#write('addReport', (snapshot) => {
      const [newest] = snapshot.keys(everythingUnder(prefix), 1, 'descending');
      const number = newest === undefined ? 1 : counterFrom(newest.subarray(-NUMBER_BYTES)) + 1;
      const writes: Write[] = [{ key: reportKey(tenantId, number), value: Buffer.from(formatReport(report)) }];
      if (number > REPORTS_KEPT_MAX) writes.push({ key: reportKey(tenantId, number - REPORTS_KEPT_MAX), value: undefined });
      return writes;
    });
  }

  async reports(tenantId: TenantId, limit: number): Promise<readonly Report[]> {
    return this.#options.environment.read((snapshot) =>
      snapshot.keys(everythingUnder(reportPrefix(tenantId)), limit, 'descending').flatMap((key) => {
        const value = snapshot.get(key);
        return value === undefined ? [] : (parseReport(textFrom(value)) ?? []);
      }),
    );
  }

  addWebPush(tenantId: TenantId, userId: UserId, subscription: WebPushSubscription): Promise<void> {
    const keys = new UserKeys(tenantId, userId);
    return this.#write('addWebPush', (snapshot) => {
      const all = webPushKeys(snapshot, keys);
      const replaced = all.filter(({ name }) => isReplaced(name, subscription));
      if (all.length - replaced.length >= WEB_PUSH_PER_USER_MAX) throw tooManySubscriptions();
      return [
        ...replaced.map(({ key }) => ({ key, value: undefined })),
        { key: keys.webPush(webPushName(subscription)), value: Buffer.from(formatWebPush(subscription)) },
      ];
    });
  }

  removeWebPush(tenantId: TenantId, userId: UserId, endpoint: string): Promise<void> {
    const keys = new UserKeys(tenantId, userId);
    return this.#write('removeWebPush', (snapshot) =>
      webPushKeys(snapshot, keys).flatMap(({ key, name }) => (name.endsWith(webPushSuffix(endpoint)) ? [{ key, value: undefined }] : [])),
    );
  }

  async webPush(tenantId: TenantId, userIds: readonly UserId[]): Promise<readonly (readonly WebPushSubscription[])[]> {
    return this.#options.environment.read((snapshot) =>
      userIds.map((userId) =>
        webPushKeys(snapshot, new UserKeys(tenantId, userId)).flatMap(({ key }) => {
          const value = snapshot.get(key);
          return value === undefined ? [] : (parseWebPush(textFrom(value)) ?? []);
        }),
      ),
    );
  }

  erase(tenantId: TenantId, userId: UserId): Promise<void> {
    const keys = new UserKeys(tenantId, userId);
    return this.#write('erase', (snapshot) =>
      [
        keys.profile,
        ...snapshot.keys(everythingUnder(keys.blockPrefix), BLOCKED_USERS_MAX),
        ...webPushKeys(snapshot, keys).map(({ key }) => key),
      ].map((key) => ({ key, value: undefined })),
    );
  }

  #write(operation: string, writes: (snapshot: Snapshot) => Write[]): Promise<void> {
    const { environment, faults } = this.#options;
    return environment.write<undefined>(operation, (snapshot) => ({ result: undefined, writes: writes(snapshot) }), faults);
  }
}

/** A name that no code of ours wrote is passed over. */
function webPushKeys(snapshot: Snapshot, { webPushPrefix }: UserKeys): { readonly key: Buffer; readonly name: string }[] {
  return snapshot.keys(everythingUnder(webPushPrefix), WEB_PUSH_PER_USER_MAX).flatMap((key) => {
    try {
      return [{ key, name: decodeURIComponent(key.subarray(webPushPrefix.length).toString('latin1')) }];
    } catch {
      return [];
    }
  });
}

/** One more name under `prefix`, unless there are `max`. */
function added(snapshot: Snapshot, prefix: Buffer, key: Buffer, max: number, full: () => Error): Write[] {
  if (snapshot.get(key) !== undefined) return [];
  if (snapshot.keys(everythingUnder(prefix), max).length >= max) throw full();
  return [{ key, value: NOTHING }];
}
