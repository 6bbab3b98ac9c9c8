import type { Conversation, Member } from '@qim/client';
import type { ReactElement } from 'react';
import { Avatar } from './avatar.js';
import { useClient } from './client-context.js';
import { Dialog } from './dialog.js';
import { AddForm, LeaveButton } from './member-forms.js';
import { useChanges } from './use-changes.js';
import { useMembers } from './use-members.js';

interface MembersDialogProps {
  readonly conversation: Conversation;
  readonly onClose: () => void;
}

export function MembersDialog({ conversation, onClose }: MembersDialogProps): ReactElement {
  const { client } = useClient();
  const { conversationId, role } = conversation;
  const { members, status, problem: readProblem, hasMore, reload } = useMembers(client, conversationId);
  const { busy, problem, run } = useChanges();
  const isAdmin = role === 'admin' || role === 'owner';

  async function add(userIds: readonly string[]): Promise<boolean> {
    const isAdded = await run(() => client.addMembers(conversationId, userIds));
    if (isAdded) reload();
    return isAdded;
  }

  async function remove(userId: string): Promise<void> {
    if (await run(() => client.removeMember(conversationId, userId))) reload();
  }

  async function leave(): Promise<void> {
    if (await run(() => client.leaveGroup(conversationId))) onClose();
  }

  return (
    <Dialog title="Members" onClose={onClose}>
      {status === 'loading' && <p className="text-muted">Loading…</p>}
      {status === 'error' && <p className="text-danger">{readProblem}</p>}
      <ul className="-mx-2 max-h-72 overflow-y-auto">
        {members.map((member) => (
          <MemberRow key={member.userId} member={member} mayRemove={isAdmin} disabled={busy} onRemove={(userId) => void remove(userId)} />
        ))}
      </ul>
      {hasMore && <p className="text-sm text-muted">And more.</p>}
      {isAdmin && <AddForm disabled={busy} onAdd={add} />}
      <p role="alert" className="mt-2 min-h-5 text-sm text-danger">
        {problem}
      </p>
      <LeaveButton disabled={busy} onLeave={() => void leave()} />
    </Dialog>
  );
}

interface MemberRowProps {
  readonly member: Member;
  /** Whether the user may remove members at all. */
  readonly mayRemove: boolean;
  readonly disabled: boolean;
  readonly onRemove: (userId: string) => void;
}

function MemberRow({ member, mayRemove, disabled, onRemove }: MemberRowProps): ReactElement {
  const { userId: ownUserId } = useClient();
  const { userId, role } = member;
  const isOneself = userId === ownUserId;
  return (
    <li className="flex items-center gap-3 rounded-lg px-2 py-1.5" data-testid="member">
      <Avatar name={userId} small />
      <span className="min-w-0 flex-1 truncate">{isOneself ? `${userId} (you)` : userId}</span>
      {role !== 'member' && <span className="text-xs text-muted">{role}</span>}
      {mayRemove && !isOneself && role !== 'owner' && (
        <button
          type="button"
          className="button button-quiet px-2 py-1 text-sm"
          disabled={disabled}
          onClick={() => onRemove(userId)}
          aria-label={`Remove ${userId}`}
        >
          Remove
        </button>
      )}
    </li>
  );
}
