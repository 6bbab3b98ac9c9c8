/**
 * The tables of docs/benchmarks.md, from the JSON of a run. Each stands between `<!-- bench:NAME -->` and
 * `<!-- bench:end -->`; what is around them is written by hand, and left alone.
 */
import { AREA_NAMES, GOALS, isReached } from '../goals.js';
import type { Machine, Parts, Result, Row } from '../result.js';
import { grouped, rounded } from './terminal.js';

const SECTION = /<!-- bench:(\w+) -->\n([\s\S]*?)<!-- bench:end -->/g;

/** `document` with all that the result has something for written anew: of a run of some areas, what is theirs. */
export function withTables(document: string, result: Result): string {
  const sections: Readonly<Record<string, (old: string) => string>> = {
    run: (old) => runText(result, old),
    goals: (old) => goalsTable(result, old),
    parts: (old) => partsTables(result.parts, old),
    ...Object.fromEntries(AREA_NAMES.map((area) => [area, () => rowsTables(result, area)])),
  };
  return document.replace(SECTION, (all: string, name: string, old: string) => {
    const text = sections[name]?.(old) ?? '';
    return text === '' ? all : `<!-- bench:${name} -->\n${text}\n<!-- bench:end -->`;
  });
}

/** Of a run of some areas only when these were measured, after what was said of the others. */
function runText(result: Result, old: string): string {
  const areas = AREA_NAMES.filter((area) => result.rows.some((row) => row.area === area));
  if (areas.length === AREA_NAMES.length || old.trim() === '') return wholeRunText(result);
  const { startedAt, machine } = result;
  const again = areas.map((area) => `Again: ${area}, ${startedAt.slice(0, 10)}, load ${machine.loadBefore} before it.`);
  const kept = old.trim().split('\n');
  return [...kept.filter((line) => !areas.some((area) => line.startsWith(`Again: ${area},`))), ...again].join('\n');
}

function wholeRunText({ startedAt, seconds, machine, missing, quick }: Result): string {
  const { cpu, cores, memoryGB, system, node, redis, postgres, loadBefore }: Machine = machine;
  const lines = [
    `Run of ${startedAt.slice(0, 10)}, ${Math.round(seconds / 60)} minutes: ${cores} cores of ${cpu}, ${memoryGB} GB, ${system}, Node ${node}, ${redis}, ${postgres}.`,
    loadBefore > 0.5
      ? `The machine was shared with other work (load ${loadBefore} before the run): the absolute values say little, and the ratios are skewed against whoever needs more of the CPU. To be measured again on a quiet machine.`
      : `Nothing else ran on it (load ${loadBefore} before the run).`,
    ...(quick ? ['This was `--quick`: the figures are worth nothing.'] : []),
    ...missing.map((what) => `Missing: ${what}.`),
  ];
  return lines.join('\n');
}

function goalsTable({ ratios }: Result, old: string): string {
  const before = old.split('\n');
  const rows = GOALS.flatMap((goal) => {
    const ratio = ratios[goal.name];
    if (ratio === undefined) return before.filter((line) => line.startsWith(`| \`${goal.name}\` |`));
    const aim = goal.aim === undefined ? 'reported' : `${goal.most === true ? 'at most' : 'at least'} ${goal.aim}`;
    const verdict = goal.aim === undefined ? '' : isReached(goal, ratio) ? 'reached' : 'not reached';
    return [`| \`${goal.name}\` | ${ratio.toFixed(2)} | ${aim} | ${verdict} | ${goal.means} |`];
  });
  if (rows.length === 0) return '';
  return ['| ratio | measured | aim | | what is divided |', '| --- | --- | --- | --- | --- |', ...rows].join('\n');
}

function rowsTables({ rows }: Result, area: string): string {
  const own = rows.filter((row) => row.area === area);
  const lines = [...grouped(own)].flatMap(([subject, group]) => group.map((row) => rowOf(subject, row)));
  if (lines.length === 0) return '';
  return ['| what | by | median | quartiles |', '| --- | --- | --- | --- |', ...lines].join('\n');
}

function rowOf(subject: string, { contender, unit, median, low, high, samples }: Row): string {
  const spread = samples > 1 ? `${rounded(low)} to ${rounded(high)}` : 'one value';
  return `| ${subject} | ${contender} | ${rounded(median)} ${unit} | ${spread} |`;
}

/** One table for each operation; those that were not measured stay, behind. */
function partsTables(all: readonly Parts[], old: string): string {
  const written = all.map(({ of, parts }) => {
    const total = parts.reduce((sum, { us }) => sum + us, 0);
    const rows = parts.map(({ part, us }) => `| ${part} | ${rounded(us)} | ${((us / total) * 100).toFixed(0)} % |`);
    return [titleOf(of), '', '| part | us | share |', '| --- | --- | --- |', ...rows].join('\n');
  });
  const before = old.split(/\n(?=Of )/).filter((table) => table.startsWith('Of '));
  const kept = before.filter((table) => !all.some(({ of }) => table.startsWith(titleOf(of))));
  return [...written, ...kept.map((table) => table.trim())].join('\n\n');
}

function titleOf(of: string): string {
  return `Of ${of}, in microseconds of its one thread:`;
}
