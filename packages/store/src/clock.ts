/** The real clock and the real turns of the process, for a store that is not told others. Nothing else here reads them. */

/** Unix milliseconds. */
export function systemNow(): number {
  return Date.now();
}

/** Calls `run` once after `ms`; what is returned calls it off. */
export function afterMs(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}

/**
 * A signal that aborts after `ms` (0: at once), and with `signal`; release it once nobody waits for it any more. What Node has
 * for it, AbortSignal.timeout within AbortSignal.any, is held by nothing: once the collector took the timeout, it never comes.
 */
export function endingAfter(ms: number, signal: AbortSignal): { readonly ended: AbortSignal; readonly release: () => void } {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  if (ms === 0 || signal.aborted) {
    end();
    return { ended: ending.signal, release: () => {} };
  }
  const callOff = afterMs(ms, end);
  signal.addEventListener('abort', end);
  const release = (): void => {
    callOff();
    signal.removeEventListener('abort', end);
  };
  return { ended: ending.signal, release };
}

/** What `work` gives, or a failure after `ms`; it goes on then, and `onLate` may end it. */
export async function inTime<T>(work: Promise<T>, ms: number, onLate?: () => void): Promise<T> {
  let callOff = (): void => {};
  const late = new Promise<never>((_, reject) => {
    callOff = afterMs(ms, () => {
      reject(new Error(`no answer in ${ms} ms`));
      onLate?.();
    });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    callOff();
  }
}

/** Lets whatever else the process has to do have its turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
