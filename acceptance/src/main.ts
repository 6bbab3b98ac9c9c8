/**
 * The acceptance: `npm run acceptance [-- --from 8] [--only 3] [--store embedded|redis|cluster]`.
 *
 * One line per item and store. An item that is not built yet is shown as failing, with what it waits for. The exit code is
 * 0 when all else holds; an item that holds although it is said to wait is a failure too: the list would be stale.
 */
import { parseArgs } from 'node:util';
import type { Item } from './item.js';
import { ITEMS } from './items/index.js';
import { Stage, type StoreName } from './stage.js';

const STORES: readonly StoreName[] = ['embedded', 'redis', 'cluster'];

interface Tally {
  held: number;
  failed: number;
  waiting: number;
}

function line(store: string, item: Item, verdict: string): void {
  process.stdout.write(`${store.padEnd(9)} ${item.number.padStart(3)} ${item.name.padEnd(10)} ${verdict}\n`);
}

async function runItem(stage: Stage, item: Item, tally: Tally): Promise<void> {
  const startedAt = performance.now();
  const error = await item.run(stage).then(
    () => undefined,
    (thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown))),
  );
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (item.waitsFor === undefined) {
    tally[error === undefined ? 'held' : 'failed'] += 1;
    line(stage.name, item, error === undefined ? `holds   ${seconds} s  ${item.shows}` : `FAILS   ${error.stack ?? error.message}`);
    return;
  }
  tally[error === undefined ? 'failed' : 'waiting'] += 1;
  line(stage.name, item, error === undefined ? 'FAILS   it holds, and is still said to wait' : `fails   waits for ${item.waitsFor}`);
}

function chosen(values: { from?: string | undefined; only?: string | undefined }): readonly Item[] {
  if (values.only !== undefined) return ITEMS.filter((item) => item.number === values.only);
  const from = ITEMS.findIndex((item) => Number.parseInt(item.number, 10) >= Number(values.from ?? '1'));
  return from < 0 ? [] : ITEMS.slice(from);
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { from: { type: 'string' }, only: { type: 'string' }, store: { type: 'string' } } });
  const items = chosen(values);
  const stores = STORES.filter((name) => values.store === undefined || values.store === name);
  if (items.length === 0 || stores.length === 0) {
    process.stderr.write(`no such item or store; items: ${ITEMS.map((i) => i.number).join(' ')}; stores: ${STORES.join(' ')}\n`);
    return 2;
  }
  const tally: Tally = { held: 0, failed: 0, waiting: 0 };
  for (const name of stores) {
    const stage = await Stage.open(name);
    try {
      for (const item of items) await runItem(stage, item, tally);
    } finally {
      await stage.close();
    }
  }
  process.stdout.write(`acceptance: ${tally.held} hold, ${tally.failed} fail, ${tally.waiting} wait for what is not built yet\n`);
  return tally.failed === 0 ? 0 : 1;
}

process.exitCode = await main();
