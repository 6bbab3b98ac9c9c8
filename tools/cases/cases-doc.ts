/** Reads the table of cases in docs/reliability.md: each row a number, what goes wrong elsewhere, and where it is tested. */
import type { Entry, Reference } from '../seed/seed-doc.js';

export interface Case extends Entry {
  readonly number: number;
}

const ROW = /^\| (\d+) \| ([^|]+) \| ([^|]+) \|$/;
/** A path and the exact name of a test, each in backquotes. */
const REFERENCE = /`((?:packages|tools|acceptance)\/[^`]+)` `([^`]+)`/g;

/** A row without a reference says in words why there is none, beginning with `not built` or `by design`. */
export function casesOf(markdown: string): Case[] {
  return markdown.split('\n').flatMap((text, index) => {
    const [, number, what = '', where = ''] = ROW.exec(text) ?? [];
    if (number === undefined) return [];
    const tests: Reference[] = [...where.matchAll(REFERENCE)].map(([, path = '', name = '']) => ({ path, name }));
    const notes = /^(not built|by design)/.test(where) ? 1 : 0;
    return [{ number: Number(number), line: index + 1, quote: what.trim(), code: [], tests, differs: 0, notes }];
  });
}
