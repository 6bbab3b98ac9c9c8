import { LEGACY_TENANT_ID, parseConversationId, parseConversationSeq } from '@qim/proto';

/** Names a conversation, or one record of it, to the store's test tools. */
export function target(conversationId: string) {
  return { tenantId: LEGACY_TENANT_ID, conversationId: parseConversationId(conversationId) };
}

export function recordTarget(conversationId: string, conversationSeq: number) {
  return { ...target(conversationId), conversationSeq: parseConversationSeq(conversationSeq) };
}
