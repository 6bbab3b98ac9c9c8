import { useCallback, useRef, useState } from 'react';

export interface More {
  readonly failed: boolean;
  /** The end of what is held is near: loads one page, unless the last one failed. */
  readonly reached: () => void;
  /** Tries again. */
  readonly load: () => void;
}

/** Pages of what precedes the first message, or follows the last, one at a time. */
export function useMore(loadOne: () => Promise<void>, hasMore: boolean): More {
  const [failed, setFailed] = useState(false);
  const isLoading = useRef(false);
  const load = useCallback(() => {
    if (isLoading.current) return;
    isLoading.current = true;
    setFailed(false);
    loadOne()
      .catch(() => setFailed(true))
      .finally(() => {
        isLoading.current = false;
      });
  }, [loadOne]);
  const reached = useCallback(() => {
    if (hasMore && !failed) load();
  }, [hasMore, failed, load]);
  return { failed, reached, load };
}
