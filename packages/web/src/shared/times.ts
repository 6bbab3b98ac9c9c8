/** Times as people read them, by the page's language and the reader's clock. `now` is Unix milliseconds, as all times here. */
import type { Say } from '../i18n/i18n.js';

type Form = 'clock' | 'weekday' | 'date' | 'dateOfYear' | 'day' | 'dayOfYear';

const FORMS: Readonly<Record<Form, Intl.DateTimeFormatOptions>> = {
  clock: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  weekday: { weekday: 'short' },
  date: { day: 'numeric', month: 'short' },
  dateOfYear: { day: 'numeric', month: 'short', year: 'numeric' },
  day: { weekday: 'long', day: 'numeric', month: 'long' },
  dayOfYear: { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' },
};

/** A few for each language: to make one costs more than to use it a hundred times. */
const made = new Map<string, Intl.DateTimeFormat>();

function written(ms: number, language: string, form: Form): string {
  const key = `${language} ${form}`;
  const format = made.get(key) ?? new Intl.DateTimeFormat(regional(language), FORMS[form]);
  made.set(key, format);
  return format.format(ms);
}

/** The page speaks a language; in which order a date is written, the reader's region says. */
function regional(language: string): string {
  const known = globalThis.navigator?.languages ?? [];
  return known.find((tag) => tag.split('-')[0] === language) ?? language;
}

function isSameYear(a: number, b: number): boolean {
  return new Date(a).getFullYear() === new Date(b).getFullYear();
}

/** What times are written with: the language's tag, and its words for days. */
export interface Wording {
  readonly language: string;
  readonly say: Say;
}

export function clockTime(ms: number, language: string): string {
  return written(ms, language, 'clock');
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
  return written(ms, language, isSameYear(ms, now) ? 'day' : 'dayOfYear');
}

/** For the list: the time today, the day within a week, the date before that, with its year when it is another one. */
export function listTime(ms: number, now: number, { language, say }: Wording): string {
  const days = daysBetween(ms, now);
  if (days <= 0) return clockTime(ms, language);
  if (days === 1) return say('day.yesterday');
  if (days < 7) return written(ms, language, 'weekday');
  return written(ms, language, isSameYear(ms, now) ? 'date' : 'dateOfYear');
}

export function isSameDay(a: number, b: number): boolean {
  return daysBetween(a, b) === 0;
}
