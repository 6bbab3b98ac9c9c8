import { X } from 'lucide-react';
import { type ReactElement, type ReactNode, useEffect, useId, useRef } from 'react';
import { IconButton } from './icon-button.js';
import { useSay } from './use-speech.js';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** The browser's own modal: focus begins at `data-first` or at the dialog itself, stays in it, Escape closes it, and focus goes back to where it was. */
export function Dialog({ title, onClose, children }: DialogProps): ReactElement {
  const say = useSay();
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = element.current;
    if (dialog !== null && !dialog.open) {
      dialog.showModal();
      // Else the button that closes it would be the first to be looked at.
      (dialog.querySelector<HTMLElement>('[data-first]') ?? dialog).focus();
    }
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={titleId}
      tabIndex={-1}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      className="m-auto max-h-[calc(100dvh-2rem)] w-[calc(100%-2rem)] max-w-md overflow-y-auto rounded-2xl border border-line bg-pane p-6 text-ink shadow-xl outline-none backdrop:bg-black/40"
    >
      <div className="mb-4 flex items-center justify-between gap-4">
        <h2 id={titleId} className="min-w-0 truncate text-lg font-semibold">
          {title}
        </h2>
        <IconButton icon={X} label={say('act.close')} onClick={onClose} className="-mr-2" />
      </div>
      {children}
    </dialog>
  );
}
