/** Shows a message that is not held, by what lies around it, and leads back to the newest ones. */
import type { Message } from '@qim/client';
import type { ShownConversation } from '@qim/client/react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { later } from '../shared/clock.js';
import { useTell } from '../shared/tell.js';
import { placeAfter } from './items.js';

/** Two frames, and some. */
const SETTLED_MS = 50;
/** What is shown may begin anew while one looks, as after a reconnect; more often than this it is let be. */
const TRIES_MAX = 3;

export interface Seek {
  readonly busy: boolean;
  /** Where a list that begins anew is to begin: a place among the messages, or the end; undefined: nothing is sought. */
  readonly start: number | 'end' | undefined;
  /** Shows the first message past this sequence. */
  readonly seek: (afterSeq: number) => void;
  /** Shows the newest message. */
  readonly latest: () => void;
}

interface Wanted {
  /** The first message past this sequence. */
  readonly to: number | 'latest';
  readonly tries: number;
}

export interface Shows {
  /** Scrolls to a place among the messages. */
  readonly show: (place: number) => void;
  readonly showLatest: () => void;
}

export function useSeek(open: ShownConversation, { show, showLatest }: Shows): Seek {
  const { messages, jumpTo, toLatest } = open;
  const [wanted, setWanted] = useState<Wanted | null>(null);
  const { trying } = useTell();
  const isHeld = wanted !== null && isThere(open, wanted.to);
  useEffect(() => {
    if (wanted === null || isHeld) return;
    trying(async () => {
      try {
        await (wanted.to === 'latest' ? toLatest() : jumpTo(wanted.to + 1));
        setWanted((now) => (now === wanted ? again(wanted) : now));
      } catch (error) {
        setWanted(null);
        throw error;
      }
    });
  }, [wanted, isHeld, jumpTo, toLatest, trying]);
  const go = useRef(() => {});
  useEffect(() => {
    go.current = () => (wanted?.to === 'latest' ? showLatest() : show(placeOf(messages, wanted?.to ?? 0)));
  }, [wanted, messages, show, showLatest]);
  useEffect(() => {
    if (!isHeld) return undefined;
    // The list takes what was just loaded first, and keeps its place; only then is there somewhere to go.
    return later(SETTLED_MS, () => {
      go.current();
      setWanted(null);
    });
  }, [isHeld]);
  const seek = useCallback((afterSeq: number) => setWanted({ to: afterSeq, tries: 0 }), []);
  const latest = useCallback(() => setWanted({ to: 'latest', tries: 0 }), []);
  return { busy: wanted !== null && !isHeld, start: isHeld ? startOf(messages, wanted.to) : undefined, seek, latest };
}

function again({ to, tries }: Wanted): Wanted | null {
  return tries + 1 < TRIES_MAX ? { to, tries: tries + 1 } : null;
}

function isThere({ messages, hasOlder, hasNewer }: ShownConversation, to: Wanted['to']): boolean {
  if (to === 'latest') return !hasNewer;
  const [first, last] = [messages[0]?.conversationSeq ?? 0, messages.at(-1)?.conversationSeq ?? 0];
  return (!hasOlder || first <= to + 1) && (!hasNewer || last > to);
}

function startOf(messages: readonly Message[], to: Wanted['to']): number | 'end' {
  return to === 'latest' ? 'end' : placeOf(messages, to);
}

function placeOf(messages: readonly Message[], afterSeq: number): number {
  return Math.max(0, Math.min(placeAfter(messages, afterSeq), messages.length - 1));
}
