/**
 * Erases what is kept of a user: the list, read marks, flags and pins, profile and blocks; and takes them out of their
 * groups, each by a Control record of its own, as if they had left. What they said stays with those they said it to, under
 * their id; direct conversations keep both sides as members, because their pair is what they are.
 *
 * The user is suspended before, so that nothing of theirs is written meanwhile. Done again after a failure it goes on where
 * it ended, and of a user of whom nothing is left it does nothing.
 */
import { type Caller, type ConversationId, HELD_PAGE_SIZE, isQimError, Role, type UserId } from '@qim/proto';
import { isDamage } from '@qim/store';
import { setRole } from './group-settings.js';
import { leaveGroup } from './groups.js';
import type { WriterDeps } from './ports.js';

/** Cost: some five steps for each conversation, one after the other. @throws Aborted | StoreUnavailable */
export async function deleteUser(deps: WriterDeps, { tenantId }: Caller, userId: UserId): Promise<void> {
  const { directory, users } = deps;
  // The admin's rights are not the user's: each group is left by the user.
  const user: Caller = { tenantId, userId, deviceId: undefined, admin: false };
  let cursor: string | undefined;
  do {
    const { conversationIds, next } = await directory.held(tenantId, userId, cursor, HELD_PAGE_SIZE);
    for (const conversationId of conversationIds) await letGo(deps, user, conversationId);
    cursor = next;
  } while (cursor !== undefined);
  await directory.forget(tenantId, userId);
  await users.erase(tenantId, userId);
}

async function letGo(deps: WriterDeps, user: Caller, conversationId: ConversationId): Promise<void> {
  const { tenantId, userId } = user;
  try {
    const { facts, member } = await deps.messages.readConversation(tenantId, conversationId, userId);
    if (facts === undefined || member === undefined) return;
    if (facts.pair.length === 0) {
      if (member.role === Role.Owner) await handOver(deps, user, conversationId);
      await leaveGroup(deps, user, conversationId);
      return;
    }
    const head = { conversationSeq: facts.lastSequence, activityAtMs: facts.lastCommittedAtMs };
    await deps.directory.setFlags(tenantId, userId, conversationId, { hidden: true, muted: false, markedUnread: false }, head);
    await deps.directory.clear(tenantId, userId, conversationId, facts.lastSequence);
  } catch (error) {
    // What cannot be read is the verifier's: the rest of the user goes all the same.
    if (!isDamage(error) && !(isQimError(error) && error.code === 'NotMember')) throw error;
  }
}

/** A group that loses its only owner gets another: an admin, or else the member of longest standing. */
async function handOver(deps: WriterDeps, user: Caller, conversationId: ConversationId): Promise<void> {
  const members = [...(await deps.messages.readMembers(user.tenantId, conversationId))].filter(([id]) => id !== user.userId);
  if (members.length === 0 || members.some(([, { role }]) => role === Role.Owner)) return;
  const [heir] = members.sort(([, a], [, b]) => b.role - a.role || a.joinedSeq - b.joinedSeq);
  if (heir !== undefined) await setRole(deps, user, conversationId, heir[0], Role.Owner);
}
