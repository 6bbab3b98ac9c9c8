/** Times as people read them, by the page's language and the reader's clock. `now` is Unix milliseconds, as all times here. */
import type { Say } from '../i18n/i18n.js';

/** What times are written with: the language's tag, and its words for days. */
export interface Wording {
  readonly language: string;
  readonly say: Say;
}

export function clockTime(ms: number, language: string): string {
  return new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(ms);
}

/** Whole local days from `ms` to `now`; 0: the same day. */
function daysBetween(ms: number, now: number): number {
  const day = (at: number): number => new Date(new Date(at).toDateString()).getTime();
  return Math.round((day(now) - day(ms)) / 86_400_000);
}

export function dayName(ms: number, now: number, { language, say }: Wording): string {
  const days = daysBetween(ms, now);
  if (days === 0) return say('day.today');
  if (days === 1) return say('day.yesterday');
  const year = new Date(ms).getFullYear() === new Date(now).getFullYear() ? undefined : ('numeric' as const);
  return new Intl.DateTimeFormat(language, { weekday: 'long', day: 'numeric', month: 'long', ...(year && { year }) }).format(ms);
}

/** For the list: the time today, the day within a week, the date before that. */
export function listTime(ms: number, now: number, { language, say }: Wording): string {
  const days = daysBetween(ms, now);
  if (days <= 0) return clockTime(ms, language);
  if (days === 1) return say('day.yesterday');
  if (days < 7) return new Intl.DateTimeFormat(language, { weekday: 'short' }).format(ms);
  return new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', year: '2-digit' }).format(ms);
}

export function isSameDay(a: number, b: number): boolean {
  return daysBetween(a, b) === 0;
}
