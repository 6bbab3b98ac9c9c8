/** Tells the story to qim and to the other rules, and says who is wrong where. */
import { EXACT_UNREAD_SCAN_LIMIT } from '@qim/proto';
import type { House } from './house.js';
import type { Rule } from './rules.js';
import type { Step } from './story.js';

export interface Cell {
  readonly shown: string;
  readonly right: boolean;
}

export interface Row {
  readonly what: string;
  readonly truth: number;
  readonly qim: Cell;
  /** One for each rule, in their order. */
  readonly others: readonly Cell[];
}

/**
 * A plain number must be the truth. `N+` claims that more than N lie ahead of the read mark and no count: right when the
 * truth is past the bound, up to which qim counts.
 */
export function cellOf(shown: string, truth: number): Cell {
  const right = shown.endsWith('+') ? shown === `${EXACT_UNREAD_SCAN_LIMIT}+` && truth > EXACT_UNREAD_SCAN_LIMIT : shown === String(truth);
  return { shown, right };
}

export async function challenge(story: readonly Step[], house: House, rules: readonly Rule[]): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { what, happens, viewer, truth } of story) {
    for (const happening of happens) {
      await house.happens(happening);
      for (const rule of rules) rule.happens(happening);
    }
    rows.push({
      what,
      truth,
      qim: cellOf(await house.badge(viewer), truth),
      others: rules.map((rule) => cellOf(String(rule.badge(viewer)), truth)),
    });
  }
  return rows;
}

/** Lines; a wrong number is marked. */
export function tableOf(rows: readonly Row[], rules: readonly Rule[]): string[] {
  const names = ['truth', 'qim', ...rules.map((rule) => rule.name)];
  const whatWidth = Math.max(...rows.map(({ what }) => what.length));
  const line = (what: string, cells: readonly string[]) =>
    [what.padEnd(whatWidth), ...cells.map((cell, i) => cell.padStart(Math.max(names[i]?.length ?? 0, 7)))].join('  ').trimEnd();
  const shown = ({ shown: text, right }: Cell) => (right ? `${text}  ` : `${text} ✗`);
  const wrong = (cells: readonly Cell[]) => `${cells.filter(({ right }) => !right).length} of ${cells.length}`;
  return [
    line('', names),
    ...rows.map(({ what, truth, qim, others }) => line(what, [String(truth), shown(qim), ...others.map(shown)])),
    line('wrong', ['', wrong(rows.map(({ qim }) => qim)), ...rules.map((_, i) => wrong(rows.flatMap(({ others }) => others[i] ?? [])))]),
    '',
    ...rules.flatMap(({ name, sources }) => sources.map((source, i) => `${(i === 0 ? name : '').padEnd(26)}${source}`)),
  ];
}
