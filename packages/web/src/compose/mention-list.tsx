import type { ReactElement } from 'react';
import { Avatar } from '../shared/avatar.js';
import { useSay } from '../shared/use-speech.js';
import type { Candidate } from './mentions.js';

interface MentionListProps {
  readonly id: string;
  readonly candidates: readonly Candidate[];
  /** The place of the one that Enter takes. */
  readonly chosen: number;
  readonly onPick: (candidate: Candidate) => void;
}

export function MentionList({ id, candidates, chosen, onPick }: MentionListProps): ReactElement {
  const say = useSay();
  return (
    <div
      id={id}
      role="listbox"
      aria-label={say('compose.mentions')}
      className="absolute bottom-full left-2 z-10 mb-1 max-h-64 w-72 max-w-[calc(100%-1rem)] overflow-y-auto rounded-xl border border-line bg-pane p-1 shadow-lg"
    >
      {candidates.map((candidate, at) => (
        <button
          key={candidate.userId ?? ''}
          type="button"
          role="option"
          aria-selected={at === chosen}
          tabIndex={-1}
          // The field keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onPick(candidate)}
          className={`flex w-full items-center gap-3 rounded-lg px-2 py-1.5 text-left text-sm ${at === chosen ? 'bg-hover' : ''}`}
        >
          <Avatar
            id={candidate.userId ?? ''}
            name={candidate.userId === undefined ? '@' : candidate.name}
            size="small"
            kind={candidate.userId === undefined ? 'group' : 'person'}
          />
          <span className="truncate font-medium">{candidate.name}</span>
          <span className="ml-auto truncate text-xs text-muted">{candidate.userId ?? say('compose.allNote')}</span>
        </button>
      ))}
    </div>
  );
}
