import type { Conversation, Member } from '@qim/client';
import { type ReactElement, useState } from 'react';
import { Avatar } from './avatar.js';
import { useClient } from './client-context.js';
import { Dialog } from './dialog.js';
import { namesFrom } from './people.js';
import { errorText } from './texts.js';
import { useMembers } from './use-members.js';
import { submitting } from './writing.js';

export function MembersDialog({
  conversation,
  onClose,
}: {
  readonly conversation: Conversation;
  readonly onClose: () => void;
}): ReactElement {
  const { client, userId } = useClient();
  const { conversationId, role } = conversation;
  const { members, status, problem: readProblem, hasMore, reload } = useMembers(client, conversationId);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const isAdmin = role === 'admin' || role === 'owner';

  /** Undefined: it failed, and the dialog says why. */
  async function run<T>(change: () => Promise<T>): Promise<T | undefined> {
    setBusy(true);
    setProblem('');
    try {
      return await change();
    } catch (error) {
      setProblem(errorText(error));
      return undefined;
    } finally {
      setBusy(false);
    }
  }

  async function add(userIds: readonly string[]): Promise<boolean> {
    const added = await run(() => client.addMembers(conversationId, userIds));
    if (added !== undefined) reload();
    return added !== undefined;
  }

  async function remove(member: Member): Promise<void> {
    if ((await run(() => client.removeMember(conversationId, member.userId))) !== undefined) reload();
  }

  async function leave(): Promise<void> {
    const left = await run(async () => {
      await client.leaveGroup(conversationId);
      return true;
    });
    if (left === true) onClose();
  }

  return (
    <Dialog title="Members" onClose={onClose}>
      {status === 'loading' && <p className="text-muted">Loading…</p>}
      {status === 'error' && <p className="text-danger">{readProblem}</p>}
      <ul className="-mx-2 max-h-72 overflow-y-auto">
        {members.map((member) => (
          <li key={member.userId} className="flex items-center gap-3 rounded-lg px-2 py-1.5" data-testid="member">
            <Avatar name={member.userId} small />
            <span className="min-w-0 flex-1 truncate">{member.userId === userId ? `${member.userId} (you)` : member.userId}</span>
            {member.role !== 'member' && <span className="text-xs text-muted">{member.role}</span>}
            {isAdmin && member.userId !== userId && member.role !== 'owner' && (
              <button
                type="button"
                className="button button-quiet px-2 py-1 text-sm"
                disabled={busy}
                onClick={() => void remove(member)}
                aria-label={`Remove ${member.userId}`}
              >
                Remove
              </button>
            )}
          </li>
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

function AddForm({
  disabled,
  onAdd,
}: {
  readonly disabled: boolean;
  readonly onAdd: (userIds: readonly string[]) => Promise<boolean>;
}): ReactElement {
  const [names, setNames] = useState('');
  async function add(): Promise<void> {
    if (await onAdd(namesFrom(names))) setNames('');
  }
  return (
    <form onSubmit={submitting(() => void add())} className="mt-4 flex items-end gap-2">
      <label className="min-w-0 flex-1">
        <span className="mb-1 block text-sm font-medium">Add people, separated by commas</span>
        <input
          className="field"
          value={names}
          onChange={(event) => setNames(event.target.value)}
          placeholder="dave"
          autoCapitalize="none"
          spellCheck={false}
        />
      </label>
      <button type="submit" className="button button-main" disabled={disabled || namesFrom(names).length === 0}>
        Add
      </button>
    </form>
  );
}

/** Asks once more in the same place: leaving cannot be undone by oneself. */
function LeaveButton({ disabled, onLeave }: { readonly disabled: boolean; readonly onLeave: () => void }): ReactElement {
  const [isAsking, setIsAsking] = useState(false);
  if (!isAsking) {
    return (
      <button type="button" className="button button-quiet mt-2 w-full text-danger" onClick={() => setIsAsking(true)}>
        Leave the group
      </button>
    );
  }
  return (
    <div className="mt-2 flex items-center gap-2">
      <span className="flex-1 text-sm text-muted">Only a member can let you in again.</span>
      <button type="button" className="button button-quiet" onClick={() => setIsAsking(false)}>
        Stay
      </button>
      <button type="button" className="button button-quiet text-danger" disabled={disabled} onClick={onLeave}>
        Leave
      </button>
    </div>
  );
}
