/** The read side over a store, as the composition root puts it together; nobody is told of anything. */
import { type Session, startSession } from '@qim/session';
import type { Store } from '@qim/store';
import { uuidv7 } from 'uuidv7';

export function sessionOver(store: Store): Session {
  return startSession(store, {
    announceRead: () => {},
    announceChange: () => {},
    announceTyping: () => {},
    announceSuspended: () => {},
    now: Date.now,
    newId: uuidv7,
  });
}
