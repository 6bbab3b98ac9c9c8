/**
 * Hides the past of a conversation from one user, on all devices: nothing at or below what is cleared is shown in any form,
 * or counted. Others see it as before. Head and membership are read first, so that no later message is hidden.
 */
import type { Caller, ConversationId, ConversationSeq } from '@qim/proto';
import type { SessionContext } from './context.js';
import { readMembership } from './membership.js';

/** Cost: 2; 3 for a member whose own list does not have the conversation yet. @throws NotMember | CorruptRecord */
export async function clearHistory(
  context: SessionContext,
  caller: Caller,
  conversationId: ConversationId,
  upToSeq: ConversationSeq,
): Promise<void> {
  const { tenantId, userId } = caller;
  const [{ facts, member }, view] = await Promise.all([
    readMembership(context, caller, conversationId),
    context.directory.view(tenantId, userId, conversationId),
  ]);
  if (view === undefined) {
    // What is cleared is kept in the view. The join is on its way, and may come twice.
    const activity = { conversationSeq: facts.lastSequence, activityAtMs: facts.lastCommittedAtMs };
    await context.directory.join(tenantId, conversationId, [{ userId, ...member }], activity);
  }
  const bounded = upToSeq < facts.lastSequence ? upToSeq : facts.lastSequence;
  await context.directory.clear(tenantId, userId, conversationId, bounded);
  context.config.announceChange(tenantId, userId, conversationId);
}
