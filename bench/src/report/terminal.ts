/** The tables of a run on a terminal: one for each subject, with a bar for each contender, then the goals. */
import { GOALS, isReached } from '../goals.js';
import type { Result, Row, Unit } from '../result.js';

const BAR = 24;
const LESS_IS_BETTER: ReadonlySet<Unit> = new Set(['ms', 'us', 's', 'bytes', 'kB', '%', 'times']);

export function terminalReport({ rows, ratios, parts, missing, quick, machine }: Result): string {
  const lines: string[] = [];
  for (const [subject, own] of grouped(rows)) lines.push('', subject, ...own.map((row) => rowLine(row, own)));
  for (const { of, parts: own } of parts) {
    lines.push('', `where the time of ${of} goes (microseconds)`);
    const most = Math.max(...own.map(({ us }) => us));
    for (const { part, us } of own) lines.push(`  ${part.padEnd(34)} ${rounded(us).padStart(10)}  ${bar(us / most)}`);
  }
  lines.push('', 'goals (ratios within this run)');
  for (const goal of GOALS) {
    const ratio = ratios[goal.name];
    if (ratio === undefined) continue;
    const aim = goal.aim === undefined ? 'reported' : `${goal.most === true ? 'at most' : 'at least'} ${goal.aim}`;
    const mark = goal.aim === undefined ? '' : isReached(goal, ratio) ? 'reached' : 'NOT REACHED';
    lines.push(`  ${goal.name.padEnd(34)} ${ratio.toFixed(2).padStart(8)}  ${aim.padEnd(14)} ${mark}`);
  }
  for (const what of missing) lines.push('', `missing: ${what}`);
  if (quick) lines.push('', '--quick: these figures show that the suite works, and nothing else');
  if (machine.loadBefore > 0.5)
    lines.push(
      '',
      `the machine was busy before the run (load ${machine.loadBefore}): ratios are skewed against whoever needs more of the CPU, and the rest says little`,
    );
  return lines.join('\n');
}

export function grouped(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) groups.set(row.subject, [...(groups.get(row.subject) ?? []), row]);
  return groups;
}

function rowLine(row: Row, group: readonly Row[]): string {
  const best = LESS_IS_BETTER.has(row.unit) ? Math.min : Math.max;
  const most = Math.max(...group.map(({ median }) => median));
  const star = group.length > 1 && row.median === best(...group.map(({ median }) => median)) ? '*' : ' ';
  const value = `${rounded(row.median)} ${row.unit}`;
  const spread = row.samples > 1 ? `${rounded(row.low)} to ${rounded(row.high)}` : '';
  return `  ${star}${row.contender.padEnd(32)} ${value.padStart(18)}  ${spread.padEnd(22)} ${bar(row.median / most)}`;
}

function bar(share: number): string {
  return '#'.repeat(Math.max(0, Math.round(BAR * share)));
}

/** Three digits that mean something. */
export function rounded(value: number): string {
  if (value >= 1000) return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ' ');
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
