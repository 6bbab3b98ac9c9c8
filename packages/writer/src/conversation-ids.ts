/**
 * Ids that the write side makes. A direct conversation's id follows from its tenant and its two users, so that both
 * sides, and every retry, arrive at the same one; a group's is new.
 */
import { createHash } from 'node:crypto';
import {
  type ClientMessageId,
  type ConversationId,
  type ConversationSettings,
  parseClientMessageId,
  parseConversationId,
  type TenantId,
  type UserId,
} from '@qim/proto';

const utf8 = new TextEncoder();

/**
 * `d_` and 43 characters of base64url: SHA-256 over the tenant (decimal) and both users in the order of their bytes, each
 * with its length before it. The order of the arguments does not matter; with oneself it is a note to self.
 */
export function directConversationId(tenantId: TenantId, one: UserId, other: UserId): ConversationId {
  const pair = [utf8.encode(one), utf8.encode(other)].sort((a, b) => Buffer.compare(a, b));
  return parseConversationId(`d_${digest([utf8.encode(String(tenantId)), ...pair])}`);
}

export function groupConversationId(uuid: string): ConversationId {
  return parseConversationId(`g_${uuid}`);
}

/**
 * The idempotency key of a group's first record. It takes in the settings, which that record does not hold: the same
 * request with other settings is then no retry. Being a digest, it never meets a key that the client sends by.
 */
export function groupRequestKey(clientRequestId: ClientMessageId, settings: ConversationSettings): ClientMessageId {
  const parts = [clientRequestId, String(settings.historyVisibility), settings.onlyAdminsPost ? '1' : '0'];
  // Only where it is on, so that what does not know of it makes the same key.
  if (settings.readReceipts === true) parts.push('receipts');
  return parseClientMessageId(`group-${digest(parts.map((part) => utf8.encode(part)))}`);
}

function digest(parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const part of parts) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    hash.update(length).update(part);
  }
  return hash.digest('base64url');
}
