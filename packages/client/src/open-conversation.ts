/** What an application holds of one open conversation: the window's messages, and its own on their way. */
import type { MembersView } from './members.js';
import type { MessageWindow } from './message-window.js';
import type { MessagesState } from './messages-state.js';
import type { Observable } from './observable.js';
import type { Outbox, OutgoingMessage } from './outbox.js';

export interface ConversationSnapshot extends MessagesState {
  /** The caller's own that are being sent or have failed, oldest first; never one that `messages` shows, and none while `hasNewer`. */
  readonly outgoing: readonly OutgoingMessage[];
}

export interface OpenConversation extends Observable<ConversationSnapshot> {
  readonly conversationId: string;
  /** Read while somebody watches. */
  readonly members: MembersView;
  /** The user ids of those who are writing, oneself left out. */
  readonly typing: Observable<readonly string[]>;
  /**
   * How far others have read, where the setting `readReceipts` is on: read from the server while somebody watches, and told since. A user
   * who is not in it has read nothing that one may know of; in a large group that is everybody.
   */
  readonly readMarks: Observable<ReadonlyMap<string, number>>;
  /** One page of what precedes the first message; at once when there is none. @throws QimClientError */
  readonly loadOlder: () => Promise<void>;
  /**
   * Shows what is around this sequence in place of the newest messages (`hasNewer`), unless it is shown already or adjoins what
   * is; then what is shown grows by it. @throws QimClientError
   */
  readonly jumpTo: (conversationSeq: number) => Promise<void>;
  /** One page of what follows the last message, while `hasNewer`; at once otherwise. @throws QimClientError */
  readonly loadNewer: () => Promise<void>;
  /** From a part of the past back to the newest messages; at once when they are shown. @throws QimClientError */
  readonly toLatest: () => Promise<void>;
  /** The message with this sequence was on screen. Marks of one moment become one call. */
  readonly markRead: (conversationSeq: number) => void;
  /** Tell it of each keystroke, and `false` when what was written is gone; it tells the others now and then. */
  readonly setTyping: (on: boolean) => void;
  /** After an error. */
  readonly retry: () => void;
  /** Several may hold the same conversation: the last one to close ends it. */
  readonly close: () => void;
}

/** Both observables as one, with an unchanged snapshot while both are unchanged. */
export function conversationView(window: MessageWindow, outbox: Outbox, conversationId: string): Observable<ConversationSnapshot> {
  let messages: MessagesState | undefined;
  let outgoing: readonly OutgoingMessage[] | undefined;
  let snapshot: ConversationSnapshot | undefined;
  return {
    subscribe: (listener) => {
      const ends = [window.state.subscribe(listener), outbox.state.subscribe(listener)];
      return () => {
        for (const end of ends) end();
      };
    },
    snapshot: () => {
      const [nextMessages, nextOutgoing] = [window.state.snapshot(), outbox.state.snapshot()];
      if (snapshot === undefined || nextMessages !== messages || nextOutgoing !== outgoing) {
        messages = nextMessages;
        outgoing = nextOutgoing;
        snapshot = { ...messages, outgoing: unseen(messages, outgoing, conversationId, snapshot?.outgoing) };
      }
      return snapshot;
    },
  };
}

/** The array of before, when it would be the same. */
function unseen(
  { messages, hasNewer }: MessagesState,
  outgoing: readonly OutgoingMessage[],
  conversationId: string,
  before: readonly OutgoingMessage[] | undefined,
): readonly OutgoingMessage[] {
  const mine = hasNewer ? [] : outgoing.filter(({ target }) => 'conversationId' in target && target.conversationId === conversationId);
  const shown = mine.length === 0 ? undefined : new Set(messages.map((message) => message.clientMessageId));
  const left = mine.filter((message) => shown?.has(message.clientMessageId) !== true);
  return before !== undefined && before.length === left.length && before.every((message, i) => message === left[i]) ? before : left;
}
