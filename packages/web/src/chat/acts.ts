import type { Message } from '@qim/client';
import { createContext, useContext } from 'react';

/** What somebody chose to do with a message, that needs more than a click. */
export type Act =
  | { readonly kind: 'reply' | 'edit'; readonly message: Message }
  | { readonly kind: 'recall' | 'delete' | 'report'; readonly message: Message }
  | { readonly kind: 'person'; readonly userId: string }
  /** Shows the message with this sequence. */
  | { readonly kind: 'seek'; readonly conversationSeq: number };

export const ActContext = createContext<(act: Act) => void>(() => {});

export function useAct(): (act: Act) => void {
  return useContext(ActContext);
}
