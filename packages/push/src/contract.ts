/**
 * The delivery side: follows the outbox, keeps the users' lists in order, and hands events to connected devices. A push is
 * a hint that may be lost; what is never lost is the chance to list again.
 */
import type { ConversationId, ConversationSeq, DeviceId, Message, TenantId, UserId } from '@qim/proto';

/** One object per event, whoever gets it: a receiver may encode it once for all. */
export type PushEvent =
  | { readonly kind: 'messageCommitted'; readonly message: Message }
  | { readonly kind: 'messageAmended'; readonly message: Message }
  | {
      readonly kind: 'readAdvanced';
      readonly conversationId: ConversationId;
      readonly userId: UserId;
      readonly readConversationSeq: ConversationSeq;
    }
  | { readonly kind: 'conversationChanged'; readonly conversationId: ConversationId }
  | { readonly kind: 'removed'; readonly conversationId: ConversationId }
  | { readonly kind: 'typing'; readonly conversationId: ConversationId; readonly userId: UserId; readonly on: boolean }
  /** `ask`: whoever is online among the receivers is to say so; between processes only. */
  | { readonly kind: 'presence'; readonly userId: UserId; readonly online: boolean; readonly ask: boolean }
  /** The receiver, or one device of theirs, is kept out from now on: what is open is closed. Never sent to a client. */
  | { readonly kind: 'suspended'; readonly deviceId: DeviceId | undefined }
  | { readonly kind: 'resyncNeeded' };

/** One connected device. */
export interface EventSink {
  readonly tenantId: TenantId;
  readonly userId: UserId;
  readonly deviceId: DeviceId | undefined;
  /** Must not throw and must not wait: what it cannot take it turns into `resyncNeeded` and a close. */
  deliver(event: PushEvent): void;
}

export interface Push {
  /** Takes the partitions and follows them until `stop`. */
  start(): Promise<void>;
  /** Hands on what was already read, gives the leases back. */
  stop(): Promise<void>;
  /** Of all processes that share a store this is true in one at most, while it follows the outbox: for what one of them must do. */
  leads(): boolean;
  /**
   * Resolves once events of all processes flow to the sink; only then may a client be welcomed. The function ends it.
   *
   * @throws StoreUnavailable
   */
  subscribe(sink: EventSink): Promise<() => void>;
  /** To the user's own devices, and to other members where the conversation has read receipts. */
  announceRead(tenantId: TenantId, userId: UserId, conversationId: ConversationId, readConversationSeq: ConversationSeq): void;
  /** To the user's own devices: what they show of the conversation is to be read again. */
  announceChange(tenantId: TenantId, userId: UserId, conversationId: ConversationId): void;
  announceTyping(tenantId: TenantId, userIds: readonly UserId[], typing: Omit<Extract<PushEvent, { kind: 'typing' }>, 'kind'>): void;
  /** To all processes: what the user has open is closed, or what that device has. */
  announceSuspended(tenantId: TenantId, userId: UserId, deviceId: DeviceId | undefined): void;
}
