import { useQim } from '@qim/client/react';
import { type ReactElement, useState } from 'react';
import type { Changes } from '../shared/use-changes.js';
import { useSay } from '../shared/use-speech.js';

interface LeaveGroupProps {
  readonly conversationId: string;
  readonly changes: Changes;
  readonly onLeft: () => void;
}

/** Asks once more in the same place: leaving cannot be undone by oneself. */
export function LeaveGroup({ conversationId, changes, onLeft }: LeaveGroupProps): ReactElement {
  const say = useSay();
  const client = useQim();
  const [isAsking, setIsAsking] = useState(false);
  async function leave(): Promise<void> {
    if (await changes.run(() => client.leaveGroup(conversationId))) onLeft();
  }
  if (!isAsking) {
    return (
      <button type="button" className="button button-quiet mt-5 w-full text-danger" onClick={() => setIsAsking(true)}>
        {say('group.leave')}
      </button>
    );
  }
  return (
    <div className="mt-5 flex items-center gap-2">
      <span className="flex-1 text-sm text-muted">{say('group.leaveText')}</span>
      <button type="button" className="button button-quiet" onClick={() => setIsAsking(false)}>
        {say('act.cancel')}
      </button>
      <button type="button" className="button button-danger" disabled={changes.busy} onClick={() => void leave()}>
        {say('group.leaveAction')}
      </button>
    </div>
  );
}
