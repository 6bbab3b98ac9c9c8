import { useObservable } from '@qim/client/react';
import { createContext, useContext } from 'react';
import type { ReadBy, Receipts } from './receipts.js';

export const ReceiptsContext = createContext<Receipts | null>(null);

/** @throws Error outside a ReceiptsContext */
export function useReadBy(conversationId: string): ReadBy {
  const receipts = useContext(ReceiptsContext);
  if (receipts === null) throw new Error('useReadBy needs a ReceiptsContext around it');
  return useObservable({ subscribe: receipts.subscribe, snapshot: () => receipts.of(conversationId) });
}
