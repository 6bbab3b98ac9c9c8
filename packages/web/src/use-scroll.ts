/** Where the messages are scrolled to: stays at the newest while it is there, and in place when older ones come in above. */
import type { ConversationSnapshot } from '@qim/client';
import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react';
import { errorText } from './texts.js';
import type { ShownConversation } from './use-conversation.js';

/** Nearer to the end than this is at the end. */
const AT_END_PX = 80;
/** Nearer to the top than this loads older ones. */
const NEAR_TOP_PX = 300;

export interface Scrolling {
  /** Of the element that scrolls. */
  readonly box: RefObject<HTMLDivElement | null>;
  readonly onScroll: () => void;
  readonly load: () => void;
  /** '': none. */
  readonly problem: string;
}

export function useScroll(open: ShownConversation, snapshot: ConversationSnapshot): Scrolling {
  const box = useRef<HTMLDivElement>(null);
  const { messages, outgoing, hasOlder } = snapshot;
  const isAtEnd = useRef(true);
  const held = useRef({ firstSeq: 0, height: 0, outgoing: 0 });
  const isLoading = useRef(false);
  const [problem, setProblem] = useState('');

  const load = useCallback(() => {
    if (isLoading.current) return;
    isLoading.current = true;
    setProblem('');
    open
      .loadOlder()
      .catch((error: unknown) => setProblem(errorText(error)))
      .finally(() => {
        isLoading.current = false;
      });
  }, [open]);

  const loadNearTop = useCallback(() => {
    if (box.current !== null && box.current.scrollTop < NEAR_TOP_PX && hasOlder && problem === '') load();
  }, [hasOlder, problem, load]);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const firstSeq = messages[0]?.conversationSeq ?? 0;
    const before = held.current;
    const hasPrepended = before.firstSeq > firstSeq && firstSeq > 0;
    // One's own new message always comes into view.
    if (outgoing.length > before.outgoing) isAtEnd.current = true;
    if (isAtEnd.current) element.scrollTop = element.scrollHeight;
    else if (hasPrepended) element.scrollTop += element.scrollHeight - before.height;
    held.current = { firstSeq, height: element.scrollHeight, outgoing: outgoing.length };
    loadNearTop();
  }, [messages, outgoing, loadNearTop]);

  // The keyboard of a phone, a wider window: what was at the end stays there.
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) element.scrollTop = element.scrollHeight;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const onScroll = useCallback(() => {
    const element = box.current;
    if (element === null) return;
    isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < AT_END_PX;
    loadNearTop();
  }, [loadNearTop]);

  return { box, onScroll, load, problem };
}
