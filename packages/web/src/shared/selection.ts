/** What is open, kept in the address: a reload stays there, and a phone's back button leaves it. */
import { useCallback, useSyncExternalStore } from 'react';

/** draft: a direct conversation that has no message yet. */
export type Selection =
  | { readonly kind: 'none' }
  | { readonly kind: 'conversation'; readonly conversationId: string }
  | { readonly kind: 'draft'; readonly toUserId: string };

const NONE: Selection = { kind: 'none' };

export function selectionFrom(hash: string): Selection {
  const [, kind, id] = /^#\/(c|to)\/(.+)$/.exec(hash) ?? [];
  if (kind === undefined || id === undefined) return NONE;
  try {
    const decoded = decodeURIComponent(id);
    return kind === 'c' ? { kind: 'conversation', conversationId: decoded } : { kind: 'draft', toUserId: decoded };
  } catch {
    return NONE; // URIError: somebody edited the address.
  }
}

export function hashOf(selection: Selection): string {
  switch (selection.kind) {
    case 'none':
      return '#/';
    case 'conversation':
      return `#/c/${encodeURIComponent(selection.conversationId)}`;
    case 'draft':
      return `#/to/${encodeURIComponent(selection.toUserId)}`;
  }
}

function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}

export function useSelection(): readonly [Selection, (selection: Selection) => void] {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  const select = useCallback((selection: Selection) => {
    location.hash = hashOf(selection);
  }, []);
  return [selectionFrom(hash), select];
}
