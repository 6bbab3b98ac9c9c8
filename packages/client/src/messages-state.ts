/** What an open conversation shows of its history. */
import type { QimClientError } from './errors.js';
import type { Message } from './types.js';

export interface MessagesState {
  /**
   * loading: nothing to show yet. ready. removed: the user is no longer a member. error: reading failed, `retry` tries
   * again; what was read before is still shown, and of damage (`error.code` data_loss) what is sound on one side of it.
   */
  readonly status: 'loading' | 'ready' | 'removed' | 'error';
  readonly error: QimClientError | undefined;
  /** Ascending, without gaps but for the holes that history itself has. */
  readonly messages: readonly Message[];
  /** There are more before the first. */
  readonly hasOlder: boolean;
  /** There are more after the last: what is shown is a part of the past, after `jumpTo`. What comes meanwhile is not shown. */
  readonly hasNewer: boolean;
  /** What is shown was kept from an earlier time; the server has not been asked yet. */
  readonly stale: boolean;
}

/** Nothing was read yet. */
export const NO_MESSAGES: MessagesState = {
  status: 'loading',
  error: undefined,
  messages: [],
  hasOlder: false,
  hasNewer: false,
  stale: false,
};
