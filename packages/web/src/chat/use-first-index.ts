/**
 * Where the list begins, as react-virtuoso counts it: what is added above takes numbers below, so that what is looked at keeps its
 * own and stays in place.
 */
import type { Message } from '@qim/client';
import { PAGE_FIRST_INDEX } from '@qim/proto';
import { useState } from 'react';

interface Held {
  readonly messages: readonly Message[];
  readonly firstIndex: number;
  /** Another one: nothing of before is there any more. */
  readonly generation: number;
}

export function useFirstIndex(messages: readonly Message[]): Omit<Held, 'messages'> {
  const [held, setHeld] = useState<Held>({ messages, firstIndex: PAGE_FIRST_INDEX, generation: 0 });
  if (held.messages === messages) return held;
  const next = follow(held, messages);
  setHeld(next);
  return next;
}

/** Exported for its test. */
export function follow(held: Held, messages: readonly Message[]): Held {
  const [firstThen, firstNow] = [held.messages[0], messages[0]];
  if (firstThen === undefined || firstNow === undefined) return { ...held, messages, generation: held.generation + 1 };
  if (firstThen.messageId === firstNow.messageId) return { ...held, messages };
  const added = messages.findIndex(({ messageId }) => messageId === firstThen.messageId);
  if (added > 0) return { ...held, messages, firstIndex: held.firstIndex - added };
  const dropped = held.messages.findIndex(({ messageId }) => messageId === firstNow.messageId);
  if (dropped > 0) return { ...held, messages, firstIndex: held.firstIndex + dropped };
  return { messages, firstIndex: PAGE_FIRST_INDEX, generation: held.generation + 1 };
}
