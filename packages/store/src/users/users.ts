/**
 * What is kept of users beside their lists: profiles, whom they blocked, who is suspended, where their browsers take
 * notifications, and what was reported to a
 * tenant's admins. Nothing of it is counted or replayed. All of a user's keys lie in one slot; each change is one atomic
 * step there. Every method may throw `StoreUnavailable`.
 */
import type { ConversationId, ConversationSeq, DeviceId, MessageId, TenantId, UserId } from '@qim/proto';

/** Texts may be empty. */
export interface StoredProfile {
  readonly displayName: string;
  readonly avatarUrl: string;
}

/** One message that a member reported. Holds nothing of the message but its place. */
export interface Report {
  /** UUIDv7. */
  readonly reportId: string;
  /** Unix milliseconds. */
  readonly reportedAtMs: number;
  readonly reporterId: UserId;
  readonly conversationId: ConversationId;
  readonly conversationSeq: ConversationSeq;
  readonly messageId: MessageId;
  readonly senderId: UserId;
  readonly comment: string;
}

/** Where one browser takes notifications, as it was given by the browser (RFC 8030, RFC 8291). */
export interface WebPushSubscription {
  /** URL of a push service. Whoever knows it, and a key that it trusts, can send there. */
  readonly endpoint: string;
  /** The browser's public key: WEB_PUSH_P256DH_BYTES in base64url. */
  readonly p256dh: string;
  /** WEB_PUSH_AUTH_BYTES in base64url. */
  readonly auth: string;
  /** Undefined: the token that registered it named none. */
  readonly deviceId: DeviceId | undefined;
}

export interface Users {
  /** In the order of `userIds`, at most PROFILES_PER_CALL_MAX; undefined: it was never set, or cannot be read. Cost: 1. */
  profiles(tenantId: TenantId, userIds: readonly UserId[]): Promise<readonly (StoredProfile | undefined)[]>;
  setProfile(tenantId: TenantId, userId: UserId, profile: StoredProfile): Promise<void>;

  /** Blocking again, and unblocking who is not blocked, change nothing. Cost: 1. @throws ResourceLimit (BLOCKED_USERS_MAX) */
  block(tenantId: TenantId, userId: UserId, blocked: UserId): Promise<void>;
  unblock(tenantId: TenantId, userId: UserId, blocked: UserId): Promise<void>;
  /** Whom the user blocked, by the bytes of their ids. At most BLOCKED_USERS_MAX. Cost: 1. */
  blocked(tenantId: TenantId, userId: UserId): Promise<readonly UserId[]>;
  /** Whether `userId` has blocked `other`. Cost: 1. */
  hasBlocked(tenantId: TenantId, userId: UserId, other: UserId): Promise<boolean>;

  /**
   * The whole user, or one device; of both, each is lifted by itself. Cost: 1.
   *
   * @throws ResourceLimit (SUSPENDED_DEVICES_MAX)
   */
  suspend(tenantId: TenantId, userId: UserId, deviceId: DeviceId | undefined, suspended: boolean): Promise<void>;
  /** Whether the user is, or that device of theirs. Cost: 1. */
  isSuspended(tenantId: TenantId, userId: UserId, deviceId: DeviceId | undefined): Promise<boolean>;

  /** Keeps the newest REPORTS_KEPT_MAX of a tenant. Cost: 1. */
  addReport(tenantId: TenantId, report: Report): Promise<void>;
  /** The newest first, at most `limit` (1..REPORTS_PAGE_SIZE_MAX); what cannot be read is left out. Cost: 1. */
  reports(tenantId: TenantId, limit: number): Promise<readonly Report[]>;

  /**
   * In place of what the same device, or the same endpoint, had before. Cost: 1. @throws ResourceLimit (WEB_PUSH_PER_USER_MAX)
   */
  addWebPush(tenantId: TenantId, userId: UserId, subscription: WebPushSubscription): Promise<void>;
  /** Of all devices that have that endpoint; none: nothing changes. Cost: 2. */
  removeWebPush(tenantId: TenantId, userId: UserId, endpoint: string): Promise<void>;
  /** Of each user, in the order of `userIds`; what cannot be read is left out. Cost: 1. */
  webPush(tenantId: TenantId, userIds: readonly UserId[]): Promise<readonly (readonly WebPushSubscription[])[]>;

  /** Removes profile, blocks and subscriptions. Suspensions stay, and so does what others blocked and reported. Cost: 1. */
  erase(tenantId: TenantId, userId: UserId): Promise<void>;
}
