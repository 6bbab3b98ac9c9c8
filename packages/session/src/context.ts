/**
 * What every part of the read side works with: the one open store, which it is given and does not open. A second
 * connection would be a second answer to 'is the store there', and twice the sockets.
 */
import type { Directory, MessageStore, Store, Users } from '@qim/store';
import type { SessionConfig } from './config.js';
import { TypingRate } from './typing-rate.js';

export interface SessionContext {
  readonly messages: Pick<
    MessageStore,
    'readConversations' | 'readConversation' | 'readHistory' | 'catchUp' | 'readMembers' | 'readMessages'
  >;
  readonly users: Users;
  readonly directory: Pick<Directory, 'page' | 'view' | 'raiseRead' | 'clear' | 'join' | 'touch' | 'setFlags'>;
  readonly typing: TypingRate;
  readonly config: SessionConfig;
}

export function createContext(store: Pick<Store, 'messages' | 'directory' | 'users'>, config: SessionConfig): SessionContext {
  return { messages: store.messages, directory: store.directory, users: store.users, typing: new TypingRate(), config };
}
