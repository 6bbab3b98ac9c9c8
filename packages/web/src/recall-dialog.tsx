import type { Message } from '@qim/client';
import type { ReactElement } from 'react';
import { useClient } from './client-context.js';
import { Dialog } from './dialog.js';
import { useChanges } from './use-changes.js';

export function RecallDialog({ message, onClose }: { readonly message: Message; readonly onClose: () => void }): ReactElement {
  const { client } = useClient();
  const { busy, problem, run } = useChanges();

  async function recall(): Promise<void> {
    if (await run(() => client.recallMessage(message))) onClose();
  }

  return (
    <Dialog title="Recall this message?" onClose={onClose}>
      <p className="text-muted">Its text is erased for everyone, for good. What stays is a line that says so.</p>
      <p role="alert" className="mt-2 min-h-5 text-sm text-danger">
        {problem}
      </p>
      <div className="mt-2 flex justify-end gap-2">
        <button type="button" className="button button-quiet" onClick={onClose}>
          Keep it
        </button>
        <button type="button" className="button button-main" disabled={busy} onClick={() => void recall()}>
          Recall
        </button>
      </div>
    </Dialog>
  );
}
