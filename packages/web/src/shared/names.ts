/** How people are called: by the name in their profile, else by their id. */
import { useObservable, useQim } from '@qim/client/react';
import { useMemo } from 'react';

export type NameOf = (userId: string) => string;

/** Names of these users; any other is called by its id. Renders again when one of them changes. */
export function useNames(userIds: readonly string[]): NameOf {
  const { profiles } = useQim();
  // Between the ids stands what no id has.
  const ids = [...new Set(userIds)].sort().join('\n');
  const watched = useMemo(() => {
    const observables = ids === '' ? [] : ids.split('\n').map((id) => profiles.of(id));
    return {
      subscribe: (listener: () => void) => {
        const ends = observables.map((observable) => observable.subscribe(listener));
        return () => {
          for (const end of ends) end();
        };
      },
      snapshot: () => observables.map((observable) => observable.snapshot()?.displayName ?? '').join('\n'),
    };
  }, [ids, profiles]);
  const names = useObservable(watched);
  return useMemo(() => {
    const known = names.split('\n');
    const held = new Map(ids.split('\n').map((id, at) => [id, known[at] ?? ''] as const));
    return (userId) => held.get(userId) || userId;
  }, [ids, names]);
}

export function useName(userId: string): string {
  return useNames([userId])(userId);
}
