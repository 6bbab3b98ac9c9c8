import { useConnection, useQim } from '@qim/client/react';
import { CloudOff } from 'lucide-react';
import type { ReactElement } from 'react';
import { useLasting } from './shared/clock.js';
import { useErrorText, useSay } from './shared/use-speech.js';

/** Shorter troubles are not worth a word. */
const CALM_MS = 1_500;

/** One calm line while there is no connection; nothing while there is. */
export function ConnectionLine({ onSignOut }: { readonly onSignOut: () => void }): ReactElement {
  const say = useSay();
  const errorText = useErrorText();
  const client = useQim();
  const state = useConnection();
  const isLong = useLasting(state.status === 'connecting' || state.status === 'waiting', CALM_MS);
  const isStopped = state.status === 'stopped';
  return (
    <div role="status" aria-label={say('connection.label')}>
      {(isStopped || isLong) && (
        <div className="flex items-center justify-center gap-3 bg-warn-soft px-4 py-1.5 text-sm text-warn">
          <CloudOff aria-hidden="true" className="size-4 shrink-0" />
          <span>{isStopped ? say('connection.stopped', { why: errorText(state.error) }) : say('connection.waiting')}</span>
          <button type="button" className="shrink-0 font-medium underline" onClick={() => (isStopped ? onSignOut() : client.retryNow())}>
            {say(isStopped ? 'connection.signIn' : 'connection.now')}
          </button>
        </div>
      )}
    </div>
  );
}
