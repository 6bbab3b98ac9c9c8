import type { ReactElement, ReactNode } from 'react';
import { Dialog } from './dialog.js';
import { Problem } from './problem.js';
import { useChanges } from './use-changes.js';
import { useSay } from './use-speech.js';

interface ConfirmDialogProps {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  /** What it is about, or a field for more. */
  readonly children?: ReactNode;
  readonly run: () => Promise<unknown>;
  /** Also called when it has worked. */
  readonly onClose: () => void;
}

/** Asks before what cannot be undone, and says why it failed. */
export function ConfirmDialog({ title, text, action, children, run, onClose }: ConfirmDialogProps): ReactElement {
  const say = useSay();
  const changes = useChanges();
  async function confirm(): Promise<void> {
    if (await changes.run(run)) onClose();
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <p className="text-muted">{text}</p>
      {children}
      <Problem text={changes.problem} />
      <div className="mt-4 flex justify-end gap-2">
        <button type="button" className="button button-quiet" onClick={onClose}>
          {say('act.cancel')}
        </button>
        <button type="button" className="button button-danger" disabled={changes.busy} onClick={() => void confirm()}>
          {action}
        </button>
      </div>
    </Dialog>
  );
}
