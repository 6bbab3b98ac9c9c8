/** That somebody is writing: told to the other members, never stored, and at a bounded rate. */
import { type Caller, type ConversationId, ConversationKind, Role, TYPING_MEMBERS_MAX, type UserId } from '@qim/proto';
import type { SessionContext } from './context.js';
import { readMembership } from './membership.js';

/**
 * Told to nobody in a group of more than TYPING_MEMBERS_MAX, by one who may not post, past the rate of the conversation, or
 * to whoever has blocked the caller; the answer is the same. Cost: 2; 3 in a direct conversation. @throws NotMember | CorruptRecord
 */
export async function setTyping(context: SessionContext, caller: Caller, conversationId: ConversationId, on: boolean): Promise<void> {
  const { tenantId, userId } = caller;
  const { facts, member } = await readMembership(context, caller, conversationId);
  if (facts.settings.onlyAdminsPost && member.role < Role.Admin) return;
  if (!context.typing.admit(`${tenantId} ${conversationId}`, context.config.now())) return;
  const members = await context.messages.readMembers(tenantId, conversationId);
  if (members.size > TYPING_MEMBERS_MAX) return;
  const others = [...members.keys()].filter((id) => id !== userId);
  const told = facts.kind === ConversationKind.Direct ? await withoutBlockers(context, caller, others) : others;
  if (told.length > 0) context.config.announceTyping(tenantId, told, { conversationId, userId, on });
}

async function withoutBlockers({ users }: SessionContext, { tenantId, userId }: Caller, others: readonly UserId[]): Promise<UserId[]> {
  const blocked = await Promise.all(others.map((other) => users.hasBlocked(tenantId, other, userId)));
  return others.filter((_, i) => !blocked[i]);
}
