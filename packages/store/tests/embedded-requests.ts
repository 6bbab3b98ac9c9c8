/** One conversation of alice and bob, the same in every process. */
import { LEGACY_TENANT_ID, parseClientMessageId, parseConversationId, parseUserId } from '@qim/proto';
import type { CommitRequest } from '../src/message/message-store.js';
import { commitRequest, directCreate } from '../src/testing/requests.js';

export const ALICE = parseUserId('alice');
export const BOB = parseUserId('bob');
export const CHAT = { tenantId: LEGACY_TENANT_ID, conversationId: parseConversationId('d_alice-bob') };

export function aliceSays(clientMessageId: string): CommitRequest {
  return commitRequest(ALICE, CHAT.conversationId, {
    clientMessageId: parseClientMessageId(clientMessageId),
    content: { kind: 'text', text: `this is ${clientMessageId}` },
    create: directCreate([ALICE, BOB]),
  });
}
