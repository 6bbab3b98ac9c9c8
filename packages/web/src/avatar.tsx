import type { ReactElement } from 'react';

const COLOURS = ['bg-teal-700', 'bg-sky-700', 'bg-indigo-600', 'bg-fuchsia-700', 'bg-rose-700', 'bg-amber-700', 'bg-lime-800'] as const;

/** The same colour for the same name, everywhere. */
function colourOf(name: string): string {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 997;
  return COLOURS[sum % COLOURS.length] ?? COLOURS[0];
}

/** The first letter on a colour; for the eye only, the name stands beside it. */
export function Avatar({
  name,
  group = false,
  small = false,
}: {
  readonly name: string;
  readonly group?: boolean;
  readonly small?: boolean;
}): ReactElement {
  const shape = group ? 'rounded-xl' : 'rounded-full';
  const size = small ? 'size-8 text-sm' : 'size-11 text-lg';
  return (
    <span
      aria-hidden="true"
      className={`flex shrink-0 items-center justify-center font-semibold text-white select-none ${shape} ${size} ${colourOf(name)}`}
    >
      {Array.from(name)[0]?.toUpperCase() ?? '?'}
    </span>
  );
}
