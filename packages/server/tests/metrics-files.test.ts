/** docs/metrics.md and the files of ops/ name what a server shows, and nothing else. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createMetrics } from '../src/metrics.js';

const ROOT = new URL('../../../', import.meta.url);
/** Of Prometheus, not of a process. */
const TARGET_LABELS = ['job', 'instance', 'le'];

interface Shown {
  readonly type: string;
  readonly labels: readonly string[];
}

/** Of what a server counts: each name with its type; labels where a first value shows them. */
async function shown(): Promise<ReadonlyMap<string, Shown>> {
  const metrics = createMetrics();
  metrics.connectionClosed(1000);
  metrics.callEnded('qim.v1.MessageService/SendMessage', 'ok', 0.1);
  metrics.damage('recordMissing');
  metrics.takeOver('risen');
  metrics.entryDelivered('committed', 1);
  metrics.hookTold('afterSend', 'taken');
  metrics.webPushSent('taken');
  metrics.beforeSendAsked('allowed');
  const { text } = await metrics.expose({ backlog: async () => ({ entries: 0, oldestMs: 0, poison: 0 }) });
  const found = new Map<string, Shown>();
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const [, labels = ''] = new RegExp(`^${name}(?:_bucket)?\\{([^}]*)\\}`, 'm').exec(text) ?? [];
    const names = [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label).filter((label) => label !== 'le');
    found.set(name, { type, labels: names });
  }
  return found;
}

function baseOf(name: string, known: ReadonlyMap<string, Shown>): string {
  const base = name.replace(/_(bucket|count|sum)$/, '');
  return known.get(base)?.type === 'histogram' ? base : name;
}

/** Names of metrics, and the labels that an expression uses with them. */
function usesOf(expression: string): { readonly names: readonly string[]; readonly labels: readonly string[] } {
  const names = expression.match(/\b(qim|process|nodejs)_\w+/g) ?? [];
  const selected = [...expression.matchAll(/(\w+)\s*(?:!=|=~|!~|=)\s*"/g)].map(([, label = '']) => label);
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(',').map((label) => label.trim()));
  return { names, labels: [...selected, ...grouped] };
}

function checkExpression(expression: string, known: ReadonlyMap<string, Shown>): void {
  const { names, labels } = usesOf(expression);
  expect(names, expression).not.toEqual([]);
  const allowed = new Set(TARGET_LABELS);
  for (const name of names) {
    const metric = known.get(baseOf(name, known));
    expect(metric, `${name} in ${expression}`).toBeDefined();
    for (const label of metric?.labels ?? []) allowed.add(label);
  }
  for (const label of labels) expect(allowed, `${label} in ${expression}`).toContain(label);
}

async function expressions(): Promise<readonly string[]> {
  const rules = await readFile(new URL('ops/alerts.yml', ROOT), 'utf8');
  const dashboard = JSON.parse(await readFile(new URL('ops/grafana/qim.json', ROOT), 'utf8')) as {
    panels: { targets: { expr: string }[] }[];
  };
  const alerts = rules
    .split('- alert:')
    .slice(1)
    .map((rule) => /expr:(?: >-)?([\s\S]*?)\n\s+(?:for|labels):/.exec(rule)?.[1]?.trim() ?? '');
  return [...alerts, ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))];
}

test('docs/metrics.md has every metric of a server with its type and labels, and no other', async () => {
  const text = await readFile(new URL('docs/metrics.md', ROOT), 'utf8');
  const told = [...text.matchAll(/^\| (qim_\w+) \| (\w+) \|([^|]*)\|/gm)].map(([, name, type, labels = '']) => {
    return `${name} ${type} ${labels
      .split(',')
      .map((label) => label.trim())
      .filter((label) => label !== '')
      .sort()
      .join(' ')}`;
  });
  const own = [...(await shown())].filter(([name]) => name.startsWith('qim_'));
  expect(told.sort()).toEqual(own.map(([name, { type, labels }]) => `${name} ${type} ${[...labels].sort().join(' ')}`).sort());
});

test('alerts and dashboard use only metrics and labels that a server shows', async () => {
  const known = await shown();
  const all = await expressions();
  expect(all.length).toBeGreaterThan(30);
  for (const expression of all) checkExpression(expression, known);
});

test('every metric of a server is on the dashboard or in an alert', async () => {
  const known = await shown();
  const used = new Set((await expressions()).flatMap((expression) => usesOf(expression).names.map((name) => baseOf(name, known))));
  expect([...known.keys()].filter((name) => name.startsWith('qim_') && !used.has(name))).toEqual([]);
});

test('a name that no server shows is noticed', async () => {
  const known = await shown();
  expect(() => checkExpression('sum(qim_nothing_total)', known)).toThrow();
  expect(() => checkExpression('sum by (color) (qim_commits_total)', known)).toThrow();
});
