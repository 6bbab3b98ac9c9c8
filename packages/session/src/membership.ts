/** The caller's membership, read before anything of the conversation is answered. */
import { type Caller, type ConversationId, notMember } from '@qim/proto';
import { type ConversationFacts, corrupt, type MemberEntry } from '@qim/store';
import type { SessionContext } from './context.js';

/** Cost: 1. @throws NotMember | CorruptRecord */
export async function readMembership(
  context: SessionContext,
  { tenantId, userId }: Caller,
  conversationId: ConversationId,
): Promise<{ readonly facts: ConversationFacts; readonly member: MemberEntry }> {
  const { facts, member } = await context.messages.readConversation(tenantId, conversationId, userId);
  if (member === undefined) throw notMember();
  if (facts === undefined) throw corrupt(tenantId, conversationId, 'factsMissing');
  return { facts, member };
}
