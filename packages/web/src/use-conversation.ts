import type { Client, ConversationSnapshot, OpenConversation } from '@qim/client';
import { useMemo } from 'react';
import { useClient } from './client-context.js';

const NOT_YET: ConversationSnapshot = { status: 'loading', error: undefined, messages: [], hasOlder: false, stale: false, outgoing: [] };

/** What the page uses of an open conversation. */
export type ShownConversation = Omit<OpenConversation, 'close' | 'members' | 'typing' | 'setTyping'>;

/** Open for as long as something shows it: rendering alone opens nothing. */
export function useConversation(conversationId: string): ShownConversation {
  const { client } = useClient();
  return useMemo(() => shownConversation(client, conversationId), [client, conversationId]);
}

function shownConversation(client: Client, conversationId: string): ShownConversation {
  let open: OpenConversation | undefined;
  return {
    conversationId,
    subscribe: (listener) => {
      const opened = client.openConversation(conversationId);
      open = opened;
      const end = opened.subscribe(listener);
      return () => {
        end();
        opened.close();
        if (open === opened) open = undefined;
      };
    },
    snapshot: () => open?.snapshot() ?? NOT_YET,
    loadOlder: async () => open?.loadOlder(),
    markRead: (seq) => open?.markRead(seq),
    retry: () => open?.retry(),
  };
}
