import type { ReactElement, ReactNode } from 'react';
import { Avatar } from './avatar.js';

interface PaneHeaderProps {
  readonly title: string;
  readonly group?: boolean;
  /** A second, quieter line. */
  readonly note?: string;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

export function PaneHeader({ title, group = false, note, onClose, children }: PaneHeaderProps): ReactElement {
  return (
    <header className="flex h-16 shrink-0 items-center gap-3 border-b border-line bg-pane px-4">
      <button type="button" className="button button-quiet px-2.5 md:hidden" onClick={onClose} aria-label="Back to the conversations">
        ←
      </button>
      <Avatar name={title} group={group} small />
      <div className="min-w-0 flex-1">
        <h1 className="truncate font-semibold">{title}</h1>
        {note !== undefined && <p className="truncate text-xs text-muted">{note}</p>}
      </div>
      {children}
    </header>
  );
}
