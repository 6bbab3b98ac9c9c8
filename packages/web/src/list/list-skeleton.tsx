import type { ReactElement } from 'react';

const ROWS = ['w-28', 'w-40', 'w-24', 'w-36', 'w-32', 'w-20'] as const;

/** The list's shape while nothing of it is known. */
export function ListSkeleton({ label }: { readonly label: string }): ReactElement {
  return (
    <div role="status" aria-label={label} className="flex-1 animate-pulse px-4 py-2 motion-reduce:animate-none">
      {ROWS.map((width) => (
        <div key={width} className="flex items-center gap-3 py-2">
          <span className="size-12 rounded-full bg-raised" />
          <span className="flex-1 space-y-2">
            <span className={`block h-3.5 rounded bg-raised ${width}`} />
            <span className="block h-3 w-full rounded bg-raised" />
          </span>
        </div>
      ))}
    </div>
  );
}
