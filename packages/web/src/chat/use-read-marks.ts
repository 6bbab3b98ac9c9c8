/** Marks as read what was on screen, and only while the page itself was. */
import { createContext, type RefObject, useContext, useEffect, useMemo } from 'react';

/** Half of a message, or a screen's half of a long one. */
function isShown({ isIntersecting, intersectionRatio, intersectionRect, rootBounds }: IntersectionObserverEntry): boolean {
  return isIntersecting && (intersectionRatio >= 0.5 || intersectionRect.height >= (rootBounds?.height ?? 0) / 2);
}

/** Watches an element that shows the message with this sequence; the function returned ends it. */
export type Watch = (element: HTMLElement, conversationSeq: number) => () => void;

export const WatchContext = createContext<Watch>(() => () => {});

/** `scroller`: what scrolls; null until it is there. */
export function useReadMarks(scroller: HTMLElement | null, markRead: (conversationSeq: number) => void): Watch {
  const { watch, observe } = useMemo(() => eye(markRead), [markRead]);
  useEffect(() => (scroller === null ? undefined : observe(scroller)), [scroller, observe]);
  return watch;
}

function eye(markRead: (conversationSeq: number) => void) {
  const watched = new Map<Element, number>();
  const shown = new Set<number>();
  let observer: IntersectionObserver | undefined;
  const mark = (): void => {
    if (document.visibilityState === 'visible' && shown.size > 0) markRead(Math.max(...shown));
  };
  const looked = (entries: readonly IntersectionObserverEntry[]): void => {
    for (const entry of entries) {
      const seq = watched.get(entry.target);
      if (seq === undefined) continue;
      if (isShown(entry)) shown.add(seq);
      else shown.delete(seq);
    }
    mark();
  };
  const watch: Watch = (element, seq) => {
    watched.set(element, seq);
    observer?.observe(element);
    return () => {
      observer?.unobserve(element);
      watched.delete(element);
      shown.delete(seq);
    };
  };
  const observe = (root: HTMLElement): (() => void) => {
    const made = new IntersectionObserver(looked, { root, threshold: [0, 0.1, 0.25, 0.5] });
    observer = made;
    for (const element of watched.keys()) made.observe(element);
    document.addEventListener('visibilitychange', mark);
    return () => {
      made.disconnect();
      shown.clear();
      document.removeEventListener('visibilitychange', mark);
    };
  };
  return { watch, observe };
}

/** Has what the ref shows watched. Undefined: nothing that can be read. */
export function useWatched(ref: RefObject<HTMLElement | null>, conversationSeq: number | undefined): void {
  const watch = useContext(WatchContext);
  useEffect(() => {
    if (ref.current !== null && conversationSeq !== undefined) return watch(ref.current, conversationSeq);
  }, [ref, watch, conversationSeq]);
}
