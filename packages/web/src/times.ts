/** Times as people read them, by the reader's own locale and clock. `now` is Unix milliseconds, as all times here. */

export function clockTime(ms: number): string {
  return new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' }).format(ms);
}

/** Whole local days from `ms` to `now`; 0: the same day. */
function daysBetween(ms: number, now: number): number {
  const day = (at: number): number => new Date(new Date(at).toDateString()).getTime();
  return Math.round((day(now) - day(ms)) / 86_400_000);
}

export function dayName(ms: number, now: number): string {
  const days = daysBetween(ms, now);
  if (days === 0) return 'Today';
  if (days === 1) return 'Yesterday';
  const year = new Date(ms).getFullYear() === new Date(now).getFullYear() ? undefined : ('numeric' as const);
  return new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long', ...(year && { year }) }).format(ms);
}

/** For the list: the time today, the day within a week, the date before that. */
export function listTime(ms: number, now: number): string {
  const days = daysBetween(ms, now);
  if (days <= 0) return clockTime(ms);
  if (days === 1) return 'Yesterday';
  if (days < 7) return new Intl.DateTimeFormat(undefined, { weekday: 'short' }).format(ms);
  return new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: '2-digit' }).format(ms);
}

export function isSameDay(a: number, b: number): boolean {
  return daysBetween(a, b) === 0;
}
