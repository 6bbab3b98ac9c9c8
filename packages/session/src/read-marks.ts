/**
 * The read mark: raised, never lowered, never past the head. The head and the membership are read first, so that a mark
 * is bounded by what existed when it was asked for; a message that arrives meanwhile is past it and stays unread.
 */
import type { Caller, ConversationId, ConversationSeq } from '@qim/proto';
import type { SessionContext } from './context.js';
import { readMembership } from './membership.js';

/** Returns what now holds, and tells the user's other devices if it rose. Cost: 2. @throws NotMember | CorruptRecord */
export async function markRead(
  context: SessionContext,
  caller: Caller,
  conversationId: ConversationId,
  asked: ConversationSeq,
): Promise<ConversationSeq> {
  const { tenantId, userId } = caller;
  const [{ facts }, view] = await Promise.all([
    readMembership(context, caller, conversationId),
    context.directory.view(tenantId, userId, conversationId),
  ]);
  const bounded = asked < facts.lastSequence ? asked : facts.lastSequence;
  const holds = await context.directory.raiseRead(tenantId, userId, conversationId, bounded);
  if (holds > (view?.readSeq ?? 0)) context.config.announceRead(tenantId, userId, conversationId, holds);
  return holds;
}
