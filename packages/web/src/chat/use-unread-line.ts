/**
 * Where what is unread begins: set when the conversation is opened, and anew when much comes at once or comes unseen after all
 * was read. It stays while one reads on, so that one finds it again.
 */
import type { Conversation, ConversationSnapshot, Message } from '@qim/client';
import { useMemo, useState } from 'react';
import { firstUnreadPlace, placeAfter } from './items.js';

/** More than this at once are not scrolled past: that would mark them as read. */
export const MANY_AT_ONCE = 20;

export interface UnreadLine {
  /** The place among the messages held; -1: there is none, or it is before what is held. */
  readonly place: number;
  /** The sequence after which it lies; undefined: nothing is unread, or it is not known. */
  readonly afterSeq: number | undefined;
}

interface Held {
  readonly afterSeq: number | undefined;
  /** Of the entry, once it was there. */
  readonly known: boolean;
  readonly lastSeq: number;
  /** A part of the past is shown: what is loaded after it is not what comes. */
  readonly past: boolean;
}

const NOTHING: Held = { afterSeq: undefined, known: false, lastSeq: 0, past: false };

export function useUnreadLine(
  entry: Conversation | undefined,
  { messages, hasOlder, hasNewer }: Pick<ConversationSnapshot, 'messages' | 'hasOlder' | 'hasNewer'>,
  userId: string,
): UnreadLine {
  const [held, setHeld] = useState(NOTHING);
  const next = advance(held, entry, messages, hasNewer);
  if (next !== held) setHeld(next);
  const { afterSeq } = next;
  return useMemo(() => {
    const first = messages[0]?.conversationSeq ?? 0;
    const last = messages.at(-1)?.conversationSeq ?? 0;
    if (afterSeq === undefined || (hasOlder && first > afterSeq + 1) || (hasNewer && last <= afterSeq)) return { place: -1, afterSeq };
    return { place: firstUnreadPlace(messages, afterSeq, userId), afterSeq };
  }, [afterSeq, messages, hasOlder, hasNewer, userId]);
}

function advance(held: Held, entry: Conversation | undefined, messages: readonly Message[], past: boolean): Held {
  let { afterSeq, known } = held;
  if (!known && entry !== undefined && entry.damaged === undefined) {
    known = true;
    if (entry.unreadCount > 0) afterSeq = entry.readConversationSeq;
  }
  const lastSeq = messages.at(-1)?.conversationSeq ?? held.lastSeq;
  if (held.lastSeq > 0 && lastSeq > held.lastSeq && !past && !held.past) {
    const isMany = messages.length - placeAfter(messages, held.lastSeq) > MANY_AT_ONCE;
    const isUnseen = isMany || document.visibilityState === 'hidden';
    if (isUnseen && !isUnread(entry, held.lastSeq)) afterSeq = held.lastSeq;
  }
  const isSame = afterSeq === held.afterSeq && known === held.known && lastSeq === held.lastSeq && past === held.past;
  return isSame ? held : { afterSeq, known, lastSeq, past };
}

/** Whether something before this was unread already: then its line stands. */
function isUnread(entry: Conversation | undefined, lastSeq: number): boolean {
  return entry !== undefined && entry.damaged === undefined && entry.readConversationSeq < lastSeq;
}
