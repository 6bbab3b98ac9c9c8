/**
 * The tables of docs/benchmarks.md, from the JSON of a run. Each stands between `<!-- bench:NAME -->` and
 * `<!-- bench:end -->`; what is around them is written by hand, and left alone.
 */
import { GOALS, isReached } from '../goals.js';
import type { Machine, Parts, Result, Row } from '../result.js';
import { grouped, rounded } from './terminal.js';

const SECTION = /<!-- bench:(\w+) -->\n[\s\S]*?<!-- bench:end -->/g;

/** `document` with every section that the result has something for written anew. */
export function withTables(document: string, result: Result): string {
  const sections: Readonly<Record<string, string>> = {
    run: runText(result),
    goals: goalsTable(result),
    parts: partsTables(result.parts),
    ...Object.fromEntries(['page', 'commit', 'e2e', 'sockets', 'memory', 'growth'].map((area) => [area, rowsTables(result, area)])),
  };
  return document.replace(SECTION, (old: string, name: string) => {
    const text = sections[name] ?? '';
    return text === '' ? old : `<!-- bench:${name} -->\n${text}\n<!-- bench:end -->`;
  });
}

function runText({ startedAt, seconds, machine, missing, quick }: Result): string {
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

function goalsTable({ ratios }: Result): string {
  const rows = GOALS.flatMap((goal) => {
    const ratio = ratios[goal.name];
    if (ratio === undefined) return [];
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

function partsTables(all: readonly Parts[]): string {
  return all
    .map(({ of, parts }) => {
      const total = parts.reduce((sum, { us }) => sum + us, 0);
      const rows = parts.map(({ part, us }) => `| ${part} | ${rounded(us)} | ${((us / total) * 100).toFixed(0)} % |`);
      return [`Of ${of}, in microseconds of its one thread:`, '', '| part | us | share |', '| --- | --- | --- |', ...rows].join('\n');
    })
    .join('\n\n');
}
