import type { Conversation, Member, Role } from '@qim/client';
import { useMembers, usePresence, useQim } from '@qim/client/react';
import { UserMinus } from 'lucide-react';
import type { ReactElement } from 'react';
import { Avatar } from '../shared/avatar.js';
import { IconButton } from '../shared/icon-button.js';
import type { Changes } from '../shared/use-changes.js';
import { useErrorText, useSpeech } from '../shared/use-speech.js';

interface MemberListProps {
  readonly conversation: Conversation;
  readonly changes: Changes;
  readonly onDirect: (userId: string) => void;
  readonly onClose: () => void;
}

export function MemberList({ conversation, changes, onDirect, onClose }: MemberListProps): ReactElement {
  const { say } = useSpeech();
  const errorText = useErrorText();
  const { members, status, error, hasMore, loadMore } = useMembers(conversation.conversationId);
  const presence = usePresence();
  return (
    <section className="mt-5">
      <h3 className="mb-1 text-sm font-semibold">{say('group.membersTitle')}</h3>
      {status === 'loading' && <p className="text-muted">{say('act.loading')}</p>}
      {status === 'error' && <p className="text-danger">{errorText(error)}</p>}
      <ul className="-mx-2 max-h-64 overflow-y-auto">
        {members.map((member) => (
          <MemberRow
            key={member.userId}
            member={member}
            conversation={conversation}
            changes={changes}
            online={presence.has(member.userId)}
            onDirect={(userId) => {
              onClose();
              onDirect(userId);
            }}
          />
        ))}
      </ul>
      {hasMore && (
        <button type="button" className="button button-quiet mt-1 w-full" onClick={loadMore}>
          {say('act.showMore')}
        </button>
      )}
    </section>
  );
}

interface MemberRowProps {
  readonly member: Member;
  readonly conversation: Conversation;
  readonly changes: Changes;
  readonly online: boolean;
  readonly onDirect: (userId: string) => void;
}

function MemberRow({ member, conversation, changes, online, onDirect }: MemberRowProps): ReactElement {
  const client = useQim();
  const { say, userId: ownId, nameOf } = useSpeech([member.userId]);
  const { userId, role } = member;
  const { conversationId, role: ownRole } = conversation;
  const isOneself = userId === ownId;
  const name = nameOf(userId);
  return (
    <li className="flex items-center gap-3 rounded-lg px-2 py-1.5" data-testid="member">
      <Avatar id={userId} name={name} size="small" online={online} />
      {isOneself ? (
        <span className="min-w-0 flex-1 truncate">{say('name.own', { name })}</span>
      ) : (
        <button type="button" className="min-w-0 flex-1 truncate text-left hover:underline" onClick={() => onDirect(userId)}>
          {name}
        </button>
      )}
      <RoleOf
        member={member}
        name={name}
        mayChange={ownRole === 'owner' && !isOneself && role !== 'owner'}
        changes={changes}
        conversationId={conversationId}
      />
      {mayRemove(ownRole, role) && !isOneself && (
        <IconButton
          icon={UserMinus}
          label={say('group.remove', { who: name })}
          small
          disabled={changes.busy}
          onClick={() => void changes.run(() => client.removeMember(conversationId, userId))}
        />
      )}
    </li>
  );
}

/** What docs/groups.md says; the server decides. */
function mayRemove(ownRole: Role, role: Role): boolean {
  return role === 'member' ? ownRole === 'admin' || ownRole === 'owner' : role === 'admin' && ownRole === 'owner';
}

interface RoleOfProps {
  readonly member: Member;
  readonly name: string;
  readonly mayChange: boolean;
  readonly changes: Changes;
  readonly conversationId: string;
}

const ROLES = ['member', 'admin', 'owner'] as const;

function RoleOf({ member, name, mayChange, changes, conversationId }: RoleOfProps): ReactElement | null {
  const client = useQim();
  const { say } = useSpeech();
  const { userId, role } = member;
  if (!mayChange) return role === 'member' ? null : <span className="text-xs text-muted">{say(`role.${role}`)}</span>;
  function give(wanted: string): void {
    const chosen = ROLES.find((one) => one === wanted);
    if (chosen !== undefined) void changes.run(() => client.setRole(conversationId, userId, chosen));
  }
  return (
    <select
      aria-label={say('group.roleOf', { who: name })}
      className="h-8 rounded-lg border border-line bg-pane px-1.5 text-sm"
      value={role}
      disabled={changes.busy}
      onChange={(event) => give(event.target.value)}
    >
      {ROLES.map((one) => (
        <option key={one} value={one}>
          {say(`role.${one}`)}
        </option>
      ))}
    </select>
  );
}
