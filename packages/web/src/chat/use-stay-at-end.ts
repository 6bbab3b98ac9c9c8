/** Where the end is in view it stays so when the room gets less, as when one begins a reply or a keyboard comes up. */
import { useEffect } from 'react';

/** `endPx`: nearer to the end than this is at the end. */
export function useStayAtEnd(scroller: HTMLElement | null, endPx: number): void {
  useEffect(() => {
    if (scroller === null) return undefined;
    let before = scroller.clientHeight;
    const observer = new ResizeObserver(() => {
      const { clientHeight, scrollHeight, scrollTop } = scroller;
      const lost = before - clientHeight;
      before = clientHeight;
      const distance = scrollHeight - scrollTop - clientHeight;
      if (lost > 0 && distance - lost <= endPx) scroller.scrollTop = scrollHeight;
    });
    observer.observe(scroller);
    return () => observer.disconnect();
  }, [scroller, endPx]);
}
