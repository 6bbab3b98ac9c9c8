/** Where the end is in view it stays so when the room gets less, as when one begins a reply or a keyboard comes up. */
import { useEffect } from 'react';
import { distanceToEnd } from './distance-to-end.js';

/** `endPx`: nearer to the end than this is at the end. */
export function useStayAtEnd(scroller: HTMLElement | null, endPx: number): void {
  useEffect(() => {
    if (scroller === null) return undefined;
    let before = scroller.clientHeight;
    const observer = new ResizeObserver(() => {
      const lost = before - scroller.clientHeight;
      before = scroller.clientHeight;
      if (lost > 0 && distanceToEnd(scroller) - lost <= endPx) scroller.scrollTop = scroller.scrollHeight;
    });
    observer.observe(scroller);
    return () => observer.disconnect();
  }, [scroller, endPx]);
}
