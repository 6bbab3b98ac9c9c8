/** What the read side is told beside its store. No key, host or path is among it: it opens nothing. */
import type { AnnounceRead, ConversationId, DeviceId, TenantId, UserId } from '@qim/proto';

export interface WebPushConfig {
  /** In base64url. */
  readonly publicKey: string;
  /** Whether notifications may be sent to that URL at all. Pure. */
  readonly accepts: (endpoint: string) => boolean;
}

export interface SessionConfig {
  /** Called when a read mark rose. */
  readonly announceRead: AnnounceRead;
  /** To those users, that `userId` is writing, or has stopped. Must not throw. */
  readonly announceTyping: (
    tenantId: TenantId,
    userIds: readonly UserId[],
    typing: { readonly conversationId: ConversationId; readonly userId: UserId; readonly on: boolean },
  ) => void;
  /** Called when a user, or one device, was suspended: what is open is to be closed. Must not throw. */
  readonly announceSuspended: (tenantId: TenantId, userId: UserId, deviceId: DeviceId | undefined) => void;
  /** Absent: no Web Push is sent, and none is registered. */
  readonly webPush?: WebPushConfig | undefined;
  /** Unix milliseconds, and fresh UUIDv7s; for reports. */
  readonly now: () => number;
  readonly newId: () => string;
  /** Called when a user's own view of a conversation changed: for that user's devices. Must not throw. */
  readonly announceChange: (tenantId: TenantId, userId: UserId, conversationId: ConversationId) => void;
}
