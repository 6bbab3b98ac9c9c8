/** Figures, and the documents that are made of them. */
import { expect, test } from 'vitest';
import { checkAnswers, expectedAnswer, type KnownConversation } from '../src/data.js';
import { GOALS, isReached } from '../src/goals.js';
import { interleaved, quantile, ratioOf } from '../src/measure.js';
import { withTables } from '../src/report/docs.js';
import { curveSvg } from '../src/report/svg.js';
import { rounded, terminalReport } from '../src/report/terminal.js';
import type { Result } from '../src/result.js';

const RESULT: Result = {
  form: 1,
  quick: false,
  startedAt: '2026-11-30T12:00:00.000Z',
  seconds: 120,
  machine: {
    cpu: 'a CPU',
    cores: 2,
    memoryGB: 8,
    system: 'Linux',
    node: '20',
    redis: 'Redis 7',
    postgres: 'PostgreSQL 15',
    loadBefore: 0.1,
  },
  ratios: { page100x20_vs_floor: 0.5, idle_socket_kB: 12 },
  rows: [
    { area: 'page', subject: 'page 100x20', contender: 'qim on Redis', unit: 'ms', median: 2, low: 1.9, high: 2.5, samples: 15 },
    { area: 'page', subject: 'page 100x20', contender: 'the floor', unit: 'ms', median: 1, low: 0.9, high: 1.1, samples: 15 },
  ],
  curves: [],
  parts: [
    {
      area: 'page',
      of: 'one page',
      parts: [
        { part: 'codec', us: 300 },
        { part: 'sockets', us: 100 },
      ],
    },
  ],
  missing: [],
};

test('contenders take turns, in the opposite order every other round, and the first round is left out', async () => {
  const order: string[] = [];
  const turn = (name: string) => ({ name, turn: async () => order.push(name) });
  const samples = await interleaved([turn('a'), turn('b')], 2);
  expect(order).toEqual(['a', 'b', 'b', 'a', 'a', 'b']);
  expect(samples.get('a')).toEqual([4, 5]);
});

test('a ratio is the median of the ratios of the rounds, so that a slow round changes nothing', () => {
  const samples = new Map([
    ['floor', [1, 10, 1]],
    ['qim', [2, 20, 2]],
  ]);
  expect(ratioOf(samples, 'floor', 'qim')).toBe(0.5);
});

test('a quantile lies between its neighbours', () => {
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
  expect(quantile([7], 0.99)).toBe(7);
});

test('a wrong answer has no speed: it stops the run and names who gave it', () => {
  const known = { conversationId: 'c', records: [{ sequence: 1, messageId: 'm', activityId: 'a', sender: 'x', type: 1, status: 1 }] };
  const expected = expectedAnswer(known as unknown as KnownConversation, 0);
  expect(expected).toMatchObject({ latestConversationSeq: 1, unreadCount: 1, unreadExact: true });
  expect(() => checkAnswers('somebody', [expected], [expected])).not.toThrow();
  expect(() => checkAnswers('somebody', [{ ...expected, unreadCount: 0 }], [expected])).toThrow(/somebody answers wrongly at 0/);
  expect(() => checkAnswers('somebody', [], [expected])).toThrow(/somebody/);
});

test('a goal is reached at its very bound, from above or from below as it says', () => {
  const floor = GOALS.find(({ name }) => name === 'page100x20_vs_floor');
  const socket = GOALS.find(({ name }) => name === 'idle_socket_kB');
  if (floor === undefined || socket === undefined) throw new Error('both are goals');
  expect([isReached(floor, 0.65), isReached(floor, 0.649)]).toEqual([true, false]);
  expect([isReached(socket, 20), isReached(socket, 20.1)]).toEqual([true, false]);
});

test('the tables of the document are written between their marks, and what the run lacks is left as it was', () => {
  const document = 'before\n<!-- bench:goals -->\nold\n<!-- bench:end -->\nafter\n<!-- bench:commit -->\nkept\n<!-- bench:end -->\n';
  const written = withTables(document, RESULT);
  expect(written).toContain('| `page100x20_vs_floor` | 0.50 | at least 0.65 | not reached |');
  expect(written).toContain('| `idle_socket_kB` | 12.00 | at most 20 | reached |');
  expect(written).toMatch(/^before\n/);
  expect(written).toContain('kept');
  expect(written).not.toContain('old');
  expect(withTables(written, RESULT)).toBe(written);
});

test('a run of some areas leaves the ratios and parts of the others, and says when it was', () => {
  const document = [
    '<!-- bench:run -->\nRun of another day.\nAgain: page, 2020-01-01, load 3 before it.\n<!-- bench:end -->',
    '<!-- bench:goals -->\n| `page100x20_vs_floor` | 0.10 |\n| `commit_batched_vs_floor` | 0.42 | kept |\n<!-- bench:end -->',
    '<!-- bench:parts -->\nOf one page, in microseconds of its one thread:\n\n| old | 1 |\n\nOf one commit, in microseconds of its one thread:\n\n| kept | 2 |\n<!-- bench:end -->',
  ].join('\n');
  const written = withTables(document, RESULT);
  expect(written).toContain('Run of another day.\nAgain: page, 2026-11-30, load 0.1 before it.');
  expect(written).toContain('| `commit_batched_vs_floor` | 0.42 | kept |');
  expect(written).toMatch(/Of one page[^|]*\| part \| us \| share[\s\S]*Of one commit[^|]*\| kept \| 2 \|/);
  expect(written).not.toMatch(/0\.10|2020|old/);
  expect(withTables(written, RESULT)).toBe(written);
});

test('the terminal shows the best of each case, its spread, and what was not reached', () => {
  const report = terminalReport(RESULT);
  expect(report).toMatch(/\*the floor +1\.00 ms +0\.90 to 1\.10/);
  expect(report).toMatch(/page100x20_vs_floor +0\.50 +at least 0\.65 +NOT REACHED/);
  expect(rounded(1234567)).toBe('1 234 567');
});

test('a curve is an SVG with every point and its value', () => {
  const points: [number, number][] = [
    [1000, 1.5],
    [1_000_000, 1.6],
  ];
  const svg = curveSvg({ name: 'history', title: 'A page', xLabel: 'messages', yLabel: 'ms', series: [{ name: 'qim', points }] });
  expect(svg).toContain('1 000 000');
  expect(svg).toContain('1.60 ms');
  expect(svg.match(/<circle/g)).toHaveLength(2);
});
