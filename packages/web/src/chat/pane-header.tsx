import { ArrowLeft } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import { IconButton } from '../shared/icon-button.js';
import { useSay } from '../shared/use-speech.js';

interface PaneHeaderProps {
  readonly avatar: ReactElement;
  readonly title: string;
  /** A second, quieter line. */
  readonly note: string;
  readonly onClose: () => void;
  /** What a click on the title shows. */
  readonly onTitle?: () => void;
  readonly titleHint?: string;
  readonly children?: ReactNode;
}

export function PaneHeader({ avatar, title, note, onClose, onTitle, titleHint, children }: PaneHeaderProps): ReactElement {
  const say = useSay();
  const name = (
    <span className="block min-w-0 text-left">
      <span className="block truncate font-semibold">{title}</span>
      <span className="block h-4 truncate text-xs text-muted">{note}</span>
    </span>
  );
  return (
    <header className="flex h-16 shrink-0 items-center gap-2 border-b border-line bg-pane px-2 sm:px-4">
      <IconButton icon={ArrowLeft} label={say('act.back')} onClick={onClose} className="md:hidden" />
      <h2 className="flex min-w-0 flex-1">
        {onTitle === undefined ? (
          <span className="flex min-w-0 items-center gap-3 px-2 py-1">
            {avatar}
            {name}
          </span>
        ) : (
          <button
            type="button"
            title={titleHint}
            onClick={onTitle}
            className="flex min-w-0 items-center gap-3 rounded-lg px-2 py-1 hover:bg-hover"
          >
            {avatar}
            {name}
          </button>
        )}
      </h2>
      {children}
    </header>
  );
}
