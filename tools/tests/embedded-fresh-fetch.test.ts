/** The same over the embedded store: a device that only applies events and catch-ups shows what a fresh fetch shows. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '@qim/store';
import { openEmbeddedStore } from '@qim/store/embedded';
import { afterAll, beforeAll, test } from 'vitest';
import { ManualTime, openWorldOn, type World } from '../../packages/push/tests/support.js';
import type { Backing } from '../testing/device-world.js';
import { freshFetchHolds } from '../testing/fresh-fetch.js';

const SEED = 20_260_603;
/** The store's own clock runs on while that of the delivery stands still. */
const LEASE_MS = 120_000;
let data: string;
let store: Store;
let world: World;
let backing: Backing;

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'qim-fresh-'));
  const time = new ManualTime();
  store = await openEmbeddedStore(data, { now: time.now });
  world = openWorldOn(store, time, () => ({ leaseMs: LEASE_MS }));
  await world.push.start();
  backing = { store, push: world.push, now: time.now, drained: world.drained };
});
afterAll(async () => {
  await world.push.stop();
  await store.close();
  await rm(data, { recursive: true, force: true });
});

test('pushes doubled and out of order: a device is up to date without reading anew', async () => {
  await freshFetchHolds(backing, ['once', 'once', 'twice', 'late'], { resync: false, stories: 15, seed: SEED });
});

test('pushes lost as well: a device is up to date once it is told to catch up', async () => {
  await freshFetchHolds(backing, ['once', 'twice', 'late', 'lost'], { resync: true, stories: 15, seed: SEED });
});
