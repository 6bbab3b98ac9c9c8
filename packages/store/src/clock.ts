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
