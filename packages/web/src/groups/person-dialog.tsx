import { usePresence, useQim } from '@qim/client/react';
import { type ReactElement, useState } from 'react';
import { Avatar } from '../shared/avatar.js';
import { Dialog } from '../shared/dialog.js';
import { Problem } from '../shared/problem.js';
import { useChanges } from '../shared/use-changes.js';
import { useSpeech } from '../shared/use-speech.js';

interface PersonDialogProps {
  readonly userId: string;
  readonly onClose: () => void;
  readonly onDirect: (userId: string) => void;
}

/** Who somebody is, and what can be done about it. */
export function PersonDialog({ userId, onClose, onDirect }: PersonDialogProps): ReactElement {
  const client = useQim();
  const { say, nameOf, userId: ownId } = useSpeech([userId]);
  const presence = usePresence();
  const { busy, problem, run } = useChanges();
  const [blocked, setBlocked] = useState(false);
  const name = nameOf(userId);
  async function block(): Promise<void> {
    if (await run(() => (blocked ? client.unblockUser(userId) : client.blockUser(userId)))) setBlocked(!blocked);
  }
  return (
    <Dialog title={name} onClose={onClose}>
      <div className="flex items-center gap-4">
        <Avatar id={userId} name={name} online={presence.has(userId)} />
        <div className="min-w-0">
          <p className="truncate text-muted">@{userId}</p>
          <p className="text-sm text-muted">{say(presence.has(userId) ? 'person.online' : 'person.offline')}</p>
        </div>
      </div>
      {userId !== ownId && (
        <>
          <div className="mt-5 flex gap-2">
            <button
              type="button"
              className="button button-main flex-1"
              onClick={() => {
                onClose();
                onDirect(userId);
              }}
            >
              {say('person.write')}
            </button>
            <button type="button" className="button button-quiet flex-1 text-danger" disabled={busy} onClick={() => void block()}>
              {say(blocked ? 'person.unblock' : 'person.block')}
            </button>
          </div>
          <p role="status" className="mt-3 text-sm text-muted">
            {blocked && `${say('person.blocked')} `}
            {say('person.blockNote')}
          </p>
        </>
      )}
      <Problem text={problem} />
    </Dialog>
  );
}
