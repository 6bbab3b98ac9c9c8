/**
 * What a user chose for a conversation: pinned, muted, hidden, marked unread. All of the user's devices see it, and nobody
 * else learns of it.
 */
import { type Caller, type ConversationId, invalidArgument, notMember } from '@qim/proto';
import type { FlagsChange } from '@qim/store';
import type { SessionContext } from './context.js';
import type { ListedConversation } from './contract.js';
import { getConversation } from './conversation-list.js';
import { readMembership } from './membership.js';

/**
 * Returns the conversation as it is then, and tells the user's devices. Cost: 2 and that of `getConversation`; 1 more for
 * hiding, and for a member whose own list does not have the conversation yet.
 *
 * @throws NotMember | InvalidArgument (hidden, beside pinned) | ResourceLimit (PINS_MAX) | CorruptRecord
 */
export async function setConversationFlags(
  context: SessionContext,
  caller: Caller,
  conversationId: ConversationId,
  change: FlagsChange,
): Promise<ListedConversation> {
  const { tenantId, userId } = caller;
  if (change.hidden === true && change.pinned === true) throw invalidArgument('hidden', 'false where pinned is true');
  const { facts, member } = await readMembership(context, caller, conversationId);
  const head = { conversationSeq: facts.lastSequence, activityAtMs: facts.lastCommittedAtMs };
  const { directory } = context;
  if ((await directory.setFlags(tenantId, userId, conversationId, change, head)) === undefined) {
    // The join is on its way, and may come twice.
    await directory.join(tenantId, conversationId, [{ userId, ...member }], head);
    if ((await directory.setFlags(tenantId, userId, conversationId, change, head)) === undefined) throw notMember();
  }
  if (change.hidden === true) await showWhatCameMeanwhile(context, caller, conversationId, head.conversationSeq);
  context.config.announceChange(tenantId, userId, conversationId);
  return getConversation(context, caller, conversationId, false);
}

/** A message that was committed, and delivered to the list, between reading the head and hiding. */
async function showWhatCameMeanwhile(
  context: SessionContext,
  caller: Caller,
  conversationId: ConversationId,
  hiddenSeq: number,
): Promise<void> {
  const { facts } = await readMembership(context, caller, conversationId);
  if (facts.lastSequence <= hiddenSeq) return;
  const activity = { conversationSeq: facts.lastSequence, activityAtMs: facts.lastCommittedAtMs };
  await context.directory.touch(caller.tenantId, conversationId, [caller.userId], activity);
}
