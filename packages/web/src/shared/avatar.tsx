import { useProfile } from '@qim/client/react';
import { Bookmark } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { initialsOf, lookOf, pictureOf } from './look.js';

const SIZES = { small: 'size-8 text-xs', medium: 'size-10 text-sm', large: 'size-12 text-base' } as const;

interface AvatarProps {
  /** What gives the colour, and of a person the picture: a name may change, an id does not. */
  readonly id: string;
  readonly name: string;
  /** A group is a rounded square, whoever is one person is round. */
  readonly kind?: 'person' | 'group' | 'notes' | 'unknown';
  readonly size?: keyof typeof SIZES;
  readonly online?: boolean;
}

/** For the eye only, the name stands beside it. Letters on a colour, or a person's picture if this server has it. */
export function Avatar({ id, name, kind = 'person', size = 'large', online = false }: AvatarProps): ReactElement {
  const shape = kind === 'group' ? 'rounded-[30%]' : 'rounded-full';
  const fill = kind === 'notes' ? 'bg-quiet' : lookOf(id).fill;
  return (
    <span aria-hidden="true" className="relative shrink-0">
      <span
        className={`flex items-center justify-center overflow-hidden font-semibold text-white select-none ${shape} ${SIZES[size]} ${fill}`}
      >
        {kind === 'notes' && <Bookmark className="size-1/2" />}
        {kind === 'person' && <Picture id={id} letters={initialsOf(name)} />}
        {(kind === 'group' || kind === 'unknown') && initialsOf(name)}
      </span>
      {online && <span data-testid="online" className="absolute right-0 bottom-0 size-3 rounded-full border-2 border-pane bg-online" />}
    </span>
  );
}

function Picture({ id, letters }: { readonly id: string; readonly letters: string }): ReactElement {
  const url = pictureOf(useProfile(id)?.avatarUrl, location.origin);
  const [failed, setFailed] = useState<string>();
  if (url === undefined || url === failed) return <>{letters}</>;
  return (
    <img
      src={url}
      alt=""
      data-testid="picture"
      loading="lazy"
      referrerPolicy="no-referrer"
      className="size-full object-cover"
      onError={() => setFailed(url)}
    />
  );
}
