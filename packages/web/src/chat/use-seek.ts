/** Looks for a message further back than what is held, page by page, and shows it. */
import type { Message } from '@qim/client';
import { useCallback, useEffect, useState } from 'react';
import { later } from '../shared/clock.js';
import { useTell } from '../shared/tell.js';
import { placeAfter } from './items.js';

/** Two frames, and some. */
const SETTLED_MS = 50;

export interface Seek {
  readonly busy: boolean;
  /** Shows the first message past this sequence. */
  readonly seek: (afterSeq: number) => void;
}

interface SeekOptions {
  readonly messages: readonly Message[];
  readonly hasOlder: boolean;
  readonly loadOlder: () => Promise<void>;
  /** Its place among the messages. */
  readonly show: (place: number) => void;
}

export function useSeek({ messages, hasOlder, loadOlder, show }: SeekOptions): Seek {
  const [wanted, setWanted] = useState<number | null>(null);
  const [pages, setPages] = useState(0);
  const { trying } = useTell();
  const first = messages[0]?.conversationSeq ?? 0;
  const isHeld = wanted !== null && (!hasOlder || first <= wanted);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page that has come asks for the next one
  useEffect(() => {
    if (wanted === null || isHeld) return;
    trying(async () => {
      try {
        await loadOlder();
        setPages((before) => before + 1);
      } catch (error) {
        setWanted(null);
        throw error;
      }
    });
  }, [wanted, isHeld, pages, loadOlder, trying]);
  useEffect(() => {
    if (!isHeld) return undefined;
    // The list takes what was just loaded first, and keeps its place; only then is there somewhere to go.
    return later(SETTLED_MS, () => {
      setWanted(null);
      show(Math.min(placeAfter(messages, wanted), messages.length - 1));
    });
  }, [isHeld, wanted, messages, show]);
  const seek = useCallback((afterSeq: number) => setWanted(afterSeq), []);
  return { busy: wanted !== null, seek };
}
