import { useCallback, useRef, useState } from 'react';

export interface Older {
  readonly failed: boolean;
  /** The top is near: loads one page, unless the last one failed. */
  readonly reached: () => void;
  /** Tries again. */
  readonly load: () => void;
}

/** Pages of what precedes the first message, one at a time. */
export function useOlder(loadOlder: () => Promise<void>, hasOlder: boolean): Older {
  const [failed, setFailed] = useState(false);
  const isLoading = useRef(false);
  const load = useCallback(() => {
    if (isLoading.current) return;
    isLoading.current = true;
    setFailed(false);
    loadOlder()
      .catch(() => setFailed(true))
      .finally(() => {
        isLoading.current = false;
      });
  }, [loadOlder]);
  const reached = useCallback(() => {
    if (hasOlder && !failed) load();
  }, [hasOlder, failed, load]);
  return { failed, reached, load };
}
