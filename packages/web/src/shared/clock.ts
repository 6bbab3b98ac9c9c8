/** The page's only clock: times of day, and pauses that nothing but its looks depends on. */
import { useEffect, useState, useSyncExternalStore } from 'react';

const MINUTE_MS = 60_000;

function subscribe(listener: () => void): () => void {
  const timer = setInterval(listener, MINUTE_MS / 2);
  return () => clearInterval(timer);
}

/** The minute that it is, in Unix milliseconds: what says 'Today' must not say so tomorrow. */
export function useMinute(): number {
  return useSyncExternalStore(subscribe, () => Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS);
}

/** Runs once after `ms`; the function returned cancels it. */
export function later(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}

/** True once `on` has been true for `ms`. */
export function useLasting(on: boolean, ms: number): boolean {
  const [lasts, setLasts] = useState(false);
  useEffect(() => {
    if (!on) return;
    const cancel = later(ms, () => setLasts(true));
    return () => {
      cancel();
      setLasts(false);
    };
  }, [on, ms]);
  return on && lasts;
}
