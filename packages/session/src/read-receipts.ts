/**
 * How far the others have read: what read receipts would have told the caller, had he been there (push tells them as marks
 * rise). Who may not hear of a mark then may not read it now.
 */
import { type Caller, type ConversationId, type ConversationSeq, RECEIPT_MEMBERS_MAX, type UserId } from '@qim/proto';
import { mayKnowOfReading, tellsOfReading } from '@qim/store';
import type { SessionContext } from './context.js';
import { readMembership } from './membership.js';

/**
 * By user; without oneself, and without those who have read nothing that the caller sees. Nobody where the setting is off, or
 * the group is larger than RECEIPT_MEMBERS_MAX. Cost: 1; 3 where the setting is on, the last one with as many commands as members.
 *
 * @throws NotMember | CorruptRecord
 */
export async function othersRead(
  context: SessionContext,
  caller: Caller,
  conversationId: ConversationId,
): Promise<ReadonlyMap<UserId, ConversationSeq>> {
  const { tenantId, userId } = caller;
  const { facts, member } = await readMembership(context, caller, conversationId);
  if (facts.settings.readReceipts !== true) return new Map();
  const members = await context.messages.readMembers(tenantId, conversationId);
  if (members.size > RECEIPT_MEMBERS_MAX) return new Map();
  const others = [...members].filter(([id]) => id !== userId);
  const views = await Promise.all(others.map(([id]) => context.directory.view(tenantId, id, conversationId)));
  return new Map(
    others.flatMap(([id, reader], n) => {
      const mark = views[n]?.readSeq;
      return mark !== undefined && mayKnowOfReading(member, mark) && tellsOfReading(reader, mark) ? [[id, mark]] : [];
    }),
  );
}
