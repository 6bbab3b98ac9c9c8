/** A store opened beside a running server, for commands that ask what a user sees. */
import type { Caller, ConversationId } from '@qim/proto';
import { startSession } from '@qim/session';
import { type ConversationExplanation, explainConversation } from './explain.js';
import type { ServerIo } from './io.js';
import type { StorePlace } from './open-store.js';

export interface ReadSide {
  /** @throws StoreUnavailable */
  explain(caller: Caller, conversationId: ConversationId): Promise<ConversationExplanation>;
  close(): Promise<void>;
}

/** @throws StartError StoreUnusable */
export async function openReadSide(place: StorePlace, io: Pick<ServerIo, 'openStore' | 'now'>): Promise<ReadSide> {
  const store = await io.openStore(place, { as: 'beside', now: io.now });
  const session = startSession(store, {
    announceRead: () => {},
    announceChange: () => {},
    announceTyping: () => {},
    announceSuspended: () => {},
    now: io.now,
    newId: () => '',
  });
  return {
    explain: (caller, conversationId) => explainConversation(store.messages, session, caller, conversationId),
    close: () => store.close(),
  };
}
