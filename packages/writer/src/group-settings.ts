/**
 * Roles, the title and the settings of a group: a Control record each, so that every timeline shows who changed what.
 *
 * An owner gives any role to whoever is not an owner, and may step down where another owner stays. Of another owner
 * nobody takes the role. An admin changes the title and the settings.
 */
import {
  type Caller,
  ControlKind,
  type ConversationId,
  type ConversationSettings,
  forbidden,
  QimError,
  Role,
  type UserId,
} from '@qim/proto';
import { admitTitle } from './admission.js';
import type { UpdateConversationInput } from './contract.js';
import { changeGroup, readMembers, refuseLastOwner } from './group-change.js';
import type { WriterDeps } from './ports.js';

/** Cost: 4. @throws NotMember | NotFound | Forbidden | InvalidArgument | Aborted */
export async function setRole(deps: WriterDeps, caller: Caller, conversationId: ConversationId, userId: UserId, role: Role): Promise<void> {
  await changeGroup(deps, caller, conversationId, async ({ member }) => {
    if (member.role < Role.Owner) throw forbidden('an owner');
    const members = await readMembers(deps, caller, conversationId);
    const target = members.get(userId);
    if (target === undefined) throw new QimError('NotFound', {}, 'no such member');
    if (target.role === role) return undefined;
    if (userId === caller.userId) refuseLastOwner(members, userId);
    else if (target.role === Role.Owner) throw forbidden('that owner: nobody else takes the role');
    const userIds = [userId];
    return { needs: 'owner', control: { kind: ControlKind.Role, userIds, role }, change: { kind: 'role', userIds, role } };
  });
}

/** Cost: 3 for each of the two that changes, 1 for one that does not. @throws NotMember | Forbidden | InvalidArgument | PayloadTooLarge | Aborted */
export async function updateConversation(deps: WriterDeps, caller: Caller, input: UpdateConversationInput): Promise<void> {
  const { conversationId, title } = input;
  if (title !== undefined) admitTitle(title);
  await changeGroup(deps, caller, conversationId, async ({ facts, member }) => {
    if (member.role < Role.Admin) throw forbidden('an admin');
    if (title === undefined || title === facts.title) return undefined;
    return { needs: 'admin', control: { kind: ControlKind.Title, title }, change: { kind: 'title', title } };
  });
  await changeGroup(deps, caller, conversationId, async ({ facts, member }) => {
    if (member.role < Role.Admin) throw forbidden('an admin');
    const before = facts.settings;
    const settings = settingsAfter(before, input.settings);
    if (settings === undefined) return undefined;
    return { needs: 'admin', control: { kind: ControlKind.Settings, settings }, change: { kind: 'settings', before, settings } };
  });
}

/** Undefined: they are so already. */
function settingsAfter(before: ConversationSettings, asked: UpdateConversationInput['settings']): ConversationSettings | undefined {
  const { historyVisibility, onlyAdminsPost, readReceipts = false } = before;
  const after = {
    historyVisibility: asked.historyVisibility ?? historyVisibility,
    onlyAdminsPost: asked.onlyAdminsPost ?? onlyAdminsPost,
    readReceipts: asked.readReceipts ?? readReceipts,
  };
  const same =
    after.historyVisibility === historyVisibility && after.onlyAdminsPost === onlyAdminsPost && after.readReceipts === readReceipts;
  return same ? undefined : after;
}
