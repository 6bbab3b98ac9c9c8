/**
 * Keeps who is at the end there as messages come. The list's own following decides by what it measured before, and so leads on
 * through a burst that comes in several parts; this looks at what is shown when each part comes.
 */
import { useEffect, useState } from 'react';
import { distanceToEnd } from './distance-to-end.js';
import { Follow } from './follow.js';
import type { Item } from './items.js';

interface Taken {
  readonly items: readonly Item[];
  /** They are a part of the past. */
  readonly past: boolean;
  readonly generation: number;
}

/** `endPx`: nearer to the end than this is at the end. */
export function useFollow({ items, past, generation }: Taken, scroller: HTMLElement | null, endPx: number, showLatest: () => void): void {
  const [follow] = useState(() => new Follow(items, past, generation));
  follow.took(items, past, generation, () => scroller !== null && distanceToEnd(scroller) <= endPx);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each time that there are others
  useEffect(() => {
    if (follow.due()) showLatest();
  }, [items, follow, showLatest]);
}
