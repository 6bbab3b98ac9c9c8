import type { Client, Observable } from '@qim/client';
import { createContext, useContext, useSyncExternalStore } from 'react';

export interface SignedInAs {
  readonly client: Client;
  readonly userId: string;
}

export const ClientContext = createContext<SignedInAs | null>(null);

/** @throws Error outside a ClientContext */
export function useClient(): SignedInAs {
  const value = useContext(ClientContext);
  if (value === null) throw new Error('useClient needs a ClientContext around it');
  return value;
}

export function useObservable<T>(observable: Observable<T>): T {
  return useSyncExternalStore(observable.subscribe, observable.snapshot);
}
