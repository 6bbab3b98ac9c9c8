import { Bookmark, Users } from 'lucide-react';
import type { ReactElement } from 'react';

const COLOURS = [
  'bg-teal-700',
  'bg-sky-700',
  'bg-indigo-600',
  'bg-violet-600',
  'bg-pink-700',
  'bg-orange-700',
  'bg-lime-700',
  'bg-cyan-700',
  'bg-emerald-700',
  'bg-slate-600',
] as const;
const SIZES = { small: 'size-8 text-sm', medium: 'size-10 text-base', large: 'size-12 text-lg' } as const;

/** The same colour for the same id, everywhere. */
function colourOf(id: string): string {
  let sum = 0;
  for (const letter of id) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 997;
  return COLOURS[sum % COLOURS.length] ?? COLOURS[0];
}

interface AvatarProps {
  /** What gives the colour: a name may change, an id does not. */
  readonly id: string;
  readonly name: string;
  readonly kind?: 'person' | 'group' | 'notes';
  readonly size?: keyof typeof SIZES;
  readonly online?: boolean;
}

/** The first letter on a colour; for the eye only, the name stands beside it. Pictures from elsewhere are never fetched. */
export function Avatar({ id, name, kind = 'person', size = 'large', online = false }: AvatarProps): ReactElement {
  return (
    <span aria-hidden="true" className="relative shrink-0">
      <span className={`flex items-center justify-center rounded-full font-semibold text-white select-none ${SIZES[size]} ${colourOf(id)}`}>
        {kind === 'group' && <Users className="size-1/2" />}
        {kind === 'notes' && <Bookmark className="size-1/2" />}
        {kind === 'person' && (Array.from(name)[0]?.toUpperCase() ?? '?')}
      </span>
      {online && <span data-testid="online" className="absolute right-0 bottom-0 size-3 rounded-full border-2 border-pane bg-online" />}
    </span>
  );
}
