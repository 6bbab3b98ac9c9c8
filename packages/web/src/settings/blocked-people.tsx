import { useQim } from '@qim/client/react';
import { type ReactElement, useEffect, useState } from 'react';
import { Avatar } from '../shared/avatar.js';
import { useTell } from '../shared/tell.js';
import { useSpeech } from '../shared/use-speech.js';

/** The first page of them: who has blocked more finds them by name. */
export function BlockedPeople(): ReactElement {
  const client = useQim();
  const { trying } = useTell();
  const [userIds, setUserIds] = useState<readonly string[]>([]);
  const { say, nameOf } = useSpeech(userIds);
  useEffect(() => {
    trying(async () => setUserIds((await client.listBlocked()).userIds));
  }, [client, trying]);
  function unblock(userId: string): void {
    trying(async () => {
      await client.unblockUser(userId);
      setUserIds((before) => before.filter((id) => id !== userId));
    });
  }
  return (
    <section>
      <h3 className="mb-1 text-sm text-muted">{say('settings.blocked')}</h3>
      {userIds.length === 0 && <p className="text-sm">{say('settings.noneBlocked')}</p>}
      <ul>
        {userIds.map((userId) => (
          <li key={userId} className="flex items-center gap-3 py-1">
            <Avatar id={userId} name={nameOf(userId)} size="small" />
            <span className="min-w-0 flex-1 truncate">{nameOf(userId)}</span>
            <button type="button" className="button button-quiet" onClick={() => unblock(userId)}>
              {say('person.unblock')}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
