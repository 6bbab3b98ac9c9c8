/** Looks for a message further back than what is held, page by page, and shows it. */
import type { Message } from '@qim/client';
import { useCallback, useEffect, useState } from 'react';
import { useTell } from '../shared/tell.js';
import { placeAfter } from './items.js';

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
  const { trying } = useTell();
  useEffect(() => {
    if (wanted === null) return;
    const first = messages[0]?.conversationSeq ?? 0;
    if (hasOlder && first > wanted) {
      trying(async () => {
        try {
          await loadOlder();
        } catch (error) {
          setWanted(null);
          throw error;
        }
      });
      return;
    }
    setWanted(null);
    show(Math.min(placeAfter(messages, wanted), messages.length - 1));
  }, [wanted, messages, hasOlder, loadOlder, show, trying]);
  const seek = useCallback((afterSeq: number) => setWanted(afterSeq), []);
  return { busy: wanted !== null, seek };
}
