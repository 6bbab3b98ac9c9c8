import { createContext, useContext, useSyncExternalStore } from 'react';
import type { Drafts } from './drafts.js';

export const DraftsContext = createContext<Drafts | null>(null);

/** @throws Error outside a DraftsContext */
export function useDrafts(): Drafts {
  const drafts = useContext(DraftsContext);
  if (drafts === null) throw new Error('useDrafts needs a DraftsContext around it');
  return drafts;
}

/** Conversation -> what was half written. */
export function useDraftTexts(): ReadonlyMap<string, string> {
  const drafts = useDrafts();
  return useSyncExternalStore(drafts.subscribe, drafts.snapshot);
}
