import type { Message } from '@qim/client';
import { type ReactElement, useState } from 'react';
import { useClient } from './client-context.js';
import { Dialog } from './dialog.js';
import { errorText } from './texts.js';

export function RecallDialog({ message, onClose }: { readonly message: Message; readonly onClose: () => void }): ReactElement {
  const { client } = useClient();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');

  async function recall(): Promise<void> {
    setBusy(true);
    try {
      await client.recallMessage(message);
      onClose();
    } catch (error) {
      setProblem(errorText(error));
      setBusy(false);
    }
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
