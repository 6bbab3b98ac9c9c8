/** Groups: made, joined, left. */
import {
  type Caller,
  ControlKind,
  type ConversationId,
  ConversationKind,
  forbidden,
  HistoryVisibility,
  invalidArgument,
  isQimError,
  parseConversationSeq,
  QimError,
  Role,
  type UserId,
} from '@qim/proto';
import type { CommitOutcome, CommitRequest, ConversationFacts, JoinedUser } from '@qim/store';
import { admitMemberIds, admitTitle } from './admission.js';
import { updateLists } from './after-commit.js';
import type { CreateGroupInput } from './contract.js';
import { groupConversationId, groupRequestKey } from './conversation-ids.js';
import { changeGroup, controlRequest, freshKey, readMembers, refuseLastOwner } from './group-change.js';
import type { WriterDeps } from './ports.js';
import { firstMembers } from './send.js';

/**
 * The caller owns the group. A retry by clientRequestId answers with the group that the first try made, even when that
 * one ended before its commit. Cost: 2; 3 with a clientRequestId.
 *
 * @throws InvalidArgument | PayloadTooLarge | IdempotencyConflict (the clientRequestId was used for another group)
 */
export async function createGroup(deps: WriterDeps, caller: Caller, input: CreateGroupInput): Promise<ConversationId> {
  const { tenantId, userId } = caller;
  const { title, clientRequestId } = input;
  admitTitle(title);
  admitMemberIds(input.memberIds, 0);
  const { historyVisibility, onlyAdminsPost, readReceipts } = input;
  const settings = { historyVisibility, onlyAdminsPost, readReceipts };
  const userIds = [...new Set([userId, ...input.memberIds])];
  const members = userIds.map((id) => ({ userId: id, role: id === userId ? Role.Owner : Role.Member }));
  const candidate = groupConversationId(deps.newId());
  const conversationId =
    clientRequestId === undefined ? candidate : await deps.directory.groupForRequest(tenantId, userId, clientRequestId, candidate);
  const key = clientRequestId === undefined ? freshKey(deps) : groupRequestKey(clientRequestId, settings);
  const request: CommitRequest = {
    ...controlRequest(deps, caller, conversationId, key, { kind: ControlKind.Created, title, userIds }),
    needs: 'owner',
    create: { kind: ConversationKind.Group, title, settings, members, onlyNew: true },
  };
  const outcome = await commitGroup(deps, request);
  if (outcome.created) await updateLists(deps, caller, conversationId, outcome, { joined: firstMembers(members, outcome) });
  return conversationId;
}

/** The group is there, and not from this request: the clientRequestId made it with other settings. */
async function commitGroup(deps: WriterDeps, request: CommitRequest): Promise<CommitOutcome> {
  try {
    return await deps.messages.commit(request);
  } catch (error) {
    if (!isQimError(error) || error.code !== 'Aborted') throw error;
    throw new QimError('IdempotencyConflict', {}, 'the clientRequestId was used for another group', { cause: error });
  }
}

/** Cost: 4. @throws NotMember | Forbidden | InvalidArgument | ResourceLimit | Aborted */
export async function addMembers(
  deps: WriterDeps,
  caller: Caller,
  conversationId: ConversationId,
  memberIds: readonly UserId[],
): Promise<void> {
  admitMemberIds(memberIds, 1);
  await changeGroup(deps, caller, conversationId, async ({ facts, member }) => {
    if (member.role < Role.Admin) throw forbidden('an admin');
    const members = await readMembers(deps, caller, conversationId);
    const userIds = [...new Set(memberIds)].filter((id) => !members.has(id));
    if (userIds.length === 0) return undefined;
    return {
      needs: 'admin',
      control: { kind: ControlKind.Joined, userIds },
      change: { kind: 'join', userIds },
      lists: (outcome) => ({ joined: joinedBy(facts, userIds, outcome) }),
    };
  });
}

/** Cost: 4. @throws NotMember | NotFound | Forbidden | InvalidArgument | Aborted */
export async function removeMember(deps: WriterDeps, caller: Caller, conversationId: ConversationId, userId: UserId): Promise<void> {
  await changeGroup(deps, caller, conversationId, async ({ member }) => {
    if (member.role < Role.Admin) throw forbidden('an admin');
    if (userId === caller.userId) throw invalidArgument('userId', 'another member: one leaves by LeaveGroup');
    const target = (await readMembers(deps, caller, conversationId)).get(userId);
    if (target === undefined) throw new QimError('NotFound', {}, 'no such member');
    if (target.role >= member.role) throw forbidden('a role above that of the member');
    return {
      needs: 'admin',
      control: { kind: ControlKind.Removed, userIds: [userId] },
      change: { kind: 'leave', userIds: [userId] },
      lists: () => ({ left: [userId] }),
    };
  });
}

/** The last owner leaves only as the last member: a group of others keeps an owner. Cost: 3; 4 for an owner. */
export async function leaveGroup(deps: WriterDeps, caller: Caller, conversationId: ConversationId): Promise<void> {
  const { userId } = caller;
  await changeGroup(deps, caller, conversationId, async ({ member }) => {
    if (member.role === Role.Owner) {
      const members = await readMembers(deps, caller, conversationId);
      if (members.size > 1) refuseLastOwner(members, userId);
    }
    return {
      needs: 'member',
      control: { kind: ControlKind.Left, userIds: [userId] },
      change: { kind: 'leave', userIds: [userId] },
      lists: () => ({ left: [userId] }),
    };
  });
}

/** As the commit step wrote them. */
function joinedBy({ settings }: ConversationFacts, userIds: readonly UserId[], { conversationSeq }: CommitOutcome): JoinedUser[] {
  const visibleFrom = settings.historyVisibility === HistoryVisibility.All ? parseConversationSeq(1) : conversationSeq;
  return userIds.map((userId) => ({ userId, joinedSeq: conversationSeq, visibleFrom }));
}
