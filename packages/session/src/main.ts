/** The read side's entrance: one open store in, the service out. Alone it runs as `qim serve --roles session`. */
import type { Store } from '@qim/store';
import type { SessionConfig } from './config.js';
import { createContext } from './context.js';
import type { Session } from './contract.js';
import { createSession } from './session-service.js';

/** Keeps nothing and runs nothing of its own: there is no stop. The store stays the caller's to close. */
export function startSession(store: Pick<Store, 'messages' | 'directory' | 'users'>, config: SessionConfig): Session {
  return createSession(createContext(store, config));
}
