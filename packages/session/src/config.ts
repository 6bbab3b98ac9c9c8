/** What the read side is told beside its store. No key, host or path is among it: it opens nothing. */
import type { AnnounceRead } from '@qim/proto';

export interface SessionConfig {
  /** Called when a read mark rose. */
  readonly announceRead: AnnounceRead;
}
