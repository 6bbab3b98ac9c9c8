/** Marks as read what was on screen, and only while the page itself was. */
import type { Message } from '@qim/client';
import { type RefObject, useEffect, useRef } from 'react';
import type { ShownConversation } from './use-conversation.js';

/** Half of a message, or a screen's half of a long one. */
function isShown({ isIntersecting, intersectionRatio, intersectionRect, rootBounds }: IntersectionObserverEntry): boolean {
  return isIntersecting && (intersectionRatio >= 0.5 || intersectionRect.height >= (rootBounds?.height ?? 0) / 2);
}

export function useReadMarks(box: RefObject<HTMLElement | null>, open: ShownConversation, messages: readonly Message[]): void {
  const shown = useRef(new Set<number>());
  const observer = useRef<IntersectionObserver>(null);

  useEffect(() => {
    const seqs = shown.current;
    const mark = (): void => {
      if (document.visibilityState === 'visible' && seqs.size > 0) open.markRead(Math.max(...seqs));
    };
    const made = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          const seq = Number((entry.target as HTMLElement).dataset.seq);
          if (isShown(entry)) seqs.add(seq);
          else seqs.delete(seq);
        }
        mark();
      },
      { root: box.current, threshold: [0, 0.1, 0.25, 0.5] },
    );
    observer.current = made;
    document.addEventListener('visibilitychange', mark);
    return () => {
      made.disconnect();
      seqs.clear();
      document.removeEventListener('visibilitychange', mark);
    };
  }, [box, open]);

  // Watched anew with each change: an element is known by its sequence, and React may have made it another's.
  useEffect(() => {
    const watch = observer.current;
    if (watch === null || box.current === null || messages.length === 0) return;
    for (const element of box.current.querySelectorAll('[data-seq]')) watch.observe(element);
  }, [box, messages]);
}
