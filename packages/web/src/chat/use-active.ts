import { useCallback, useRef, useState } from 'react';

export interface Active {
  /** The message whose actions show; undefined: none. */
  readonly activeId: string | undefined;
  readonly onActive: (messageId: string | undefined) => void;
  /** While a menu is open its message stays the active one, wherever the pointer is. */
  readonly onHold: (held: boolean) => void;
}

export function useActive(): Active {
  const [activeId, setActiveId] = useState<string>();
  const isHeld = useRef(false);
  const onActive = useCallback((messageId: string | undefined) => {
    if (!isHeld.current) setActiveId(messageId);
  }, []);
  const onHold = useCallback((held: boolean) => {
    isHeld.current = held;
  }, []);
  return { activeId, onActive, onHold };
}
