import { Bookmark } from 'lucide-react';
import type { ReactElement } from 'react';
import { initialsOf, lookOf } from './look.js';

const SIZES = { small: 'size-8 text-xs', medium: 'size-10 text-sm', large: 'size-12 text-base' } as const;

interface AvatarProps {
  /** What gives the colour: a name may change, an id does not. */
  readonly id: string;
  readonly name: string;
  /** A group is a rounded square, whoever is one person is round. */
  readonly kind?: 'person' | 'group' | 'notes';
  readonly size?: keyof typeof SIZES;
  readonly online?: boolean;
}

/** Letters on a colour; for the eye only, the name stands beside it. Pictures from elsewhere are never fetched. */
export function Avatar({ id, name, kind = 'person', size = 'large', online = false }: AvatarProps): ReactElement {
  const shape = kind === 'group' ? 'rounded-[30%]' : 'rounded-full';
  const fill = kind === 'notes' ? 'bg-quiet' : lookOf(id).fill;
  return (
    <span aria-hidden="true" className="relative shrink-0">
      <span className={`flex items-center justify-center font-semibold text-white select-none ${shape} ${SIZES[size]} ${fill}`}>
        {kind === 'notes' ? <Bookmark className="size-1/2" /> : initialsOf(name)}
      </span>
      {online && <span data-testid="online" className="absolute right-0 bottom-0 size-3 rounded-full border-2 border-pane bg-online" />}
    </span>
  );
}
