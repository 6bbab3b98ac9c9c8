/** Of two states of a message the later one, and what a change of one message means for those that quote it. */
import type { Message, Preview } from './types.js';

/** The one that was amended more often, and of one revision, reacted to more often; with what either knows of what it replies to. */
export function newer(held: Message, other: Message): Message {
  const later = isLater(held, other) ? other : held;
  const replyPreview = later.replyTo === undefined || isErased(later) ? undefined : quoteOf(held.replyPreview, other.replyPreview);
  return isSame(later.replyPreview, replyPreview) ? later : { ...later, replyPreview };
}

function isLater(held: Message, other: Message): boolean {
  if (other.revision !== held.revision) return other.revision > held.revision;
  return other.reactionsRevision > held.reactionsRevision;
}

/** History alone tells of it: a push without one says nothing. What was erased stays so. */
function quoteOf(held: Preview | undefined, other: Preview | undefined): Preview | undefined {
  return held !== undefined && isErased(held) ? held : (other ?? held);
}

function isSame(a: Preview | undefined, b: Preview | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && a.status === b.status && a.snippet === b.snippet);
}

function isErased({ status }: Pick<Message, 'status'>): boolean {
  return status === 'recalled' || status === 'deleted';
}

/** The messages without the text of one that was erased, where they quote it; undefined: nothing to change. */
export function withoutQuote(messages: readonly Message[], erased: Message): readonly Message[] | undefined {
  if (!isErased(erased)) return undefined;
  const quotes = ({ replyPreview }: Message): boolean => replyPreview?.messageId === erased.messageId && !isErased(replyPreview);
  if (!messages.some(quotes)) return undefined;
  return messages.map((message) => {
    const { replyPreview } = message;
    if (replyPreview === undefined || !quotes(message)) return message;
    return { ...message, replyPreview: { ...replyPreview, status: erased.status, snippet: '', truncated: false } };
  });
}
