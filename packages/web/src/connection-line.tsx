import { type ReactElement, useEffect, useState } from 'react';
import { useClient, useObservable } from './client-context.js';
import { errorText } from './texts.js';

/** Shorter troubles are not worth a word. */
const CALM_MS = 1_500;

/** One calm line while there is no connection; nothing while there is. */
export function ConnectionLine({ onSignOut }: { readonly onSignOut: () => void }): ReactElement {
  const { client } = useClient();
  const state = useObservable(client.connection);
  const isAway = state.status === 'connecting' || state.status === 'waiting';
  const [isLong, setIsLong] = useState(false);
  useEffect(() => {
    if (!isAway) return;
    const timer = setTimeout(() => setIsLong(true), CALM_MS);
    return () => {
      clearTimeout(timer);
      setIsLong(false);
    };
  }, [isAway]);
  const isStopped = state.status === 'stopped';
  return (
    <div role="status" aria-label="Connection">
      {(isStopped || (isAway && isLong)) && (
        <div className="flex items-center justify-between gap-3 border-b border-line bg-warn-soft px-4 py-1.5 text-sm text-warn">
          <span>{isStopped ? `Signed out. ${errorText(state.error)}` : 'No connection. Trying again…'}</span>
          {isStopped ? (
            <button type="button" className="font-medium underline" onClick={onSignOut}>
              Sign in again
            </button>
          ) : (
            <button type="button" className="font-medium underline" onClick={() => client.retryNow()}>
              Try now
            </button>
          )}
        </div>
      )}
    </div>
  );
}
