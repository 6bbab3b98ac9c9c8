/** What the read side is told beside its store. No key, host or path is among it: it opens nothing. */
import type { AnnounceRead, ConversationId, TenantId, UserId } from '@qim/proto';

export interface SessionConfig {
  /** Called when a read mark rose. */
  readonly announceRead: AnnounceRead;
  /** Unix milliseconds, and fresh UUIDv7s; for reports. */
  readonly now: () => number;
  readonly newId: () => string;
  /** Called when a user's own view of a conversation changed: for that user's devices. Must not throw. */
  readonly announceChange: (tenantId: TenantId, userId: UserId, conversationId: ConversationId) => void;
}
