/** A device that only applies events and catch-ups shows what one shows that fetches anew. */
import { openMemoryStore } from '@qim/store/memory';
import { afterEach, expect, test } from 'vitest';
import { ManualTime, openWorldOn, type World } from '../../packages/push/tests/support.js';
import type { Backing } from '../testing/device-world.js';
import { freshFetchHolds } from '../testing/fresh-fetch.js';

const SEED = 20_260_602;
const worlds: World[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.push.stop();
});

async function backing(): Promise<Backing> {
  const time = new ManualTime();
  const world = openWorldOn(openMemoryStore({ now: time.now }), time);
  worlds.push(world);
  await world.push.start();
  return { store: world.store, push: world.push, now: time.now, drained: world.drained };
}

test('pushes doubled and out of order: a device is up to date without reading anew', async () => {
  await freshFetchHolds(await backing(), ['once', 'once', 'twice', 'late'], { resync: false, stories: 100, seed: SEED });
});

test('pushes lost as well: a device is up to date once it is told to catch up', async () => {
  await freshFetchHolds(await backing(), ['once', 'twice', 'late', 'lost'], { resync: true, stories: 100, seed: SEED });
});

test('pushes lost and nothing said of it: a device falls behind, which this check would see', async () => {
  const holds = freshFetchHolds(await backing(), ['once', 'lost'], { resync: false, stories: 60, seed: SEED });
  await expect(holds).rejects.toThrow(/Property failed/);
});

test('a catch-up that forgets what was amended is seen', async () => {
  const sound = await backing();
  const { messages } = sound.store;
  const forgetful = async (query: Parameters<typeof messages.catchUp>[0]) => ({ ...(await messages.catchUp(query)), amended: [] });
  const store = { ...sound.store, messages: { ...messages, catchUp: forgetful as typeof messages.catchUp } };
  const holds = freshFetchHolds({ ...sound, store }, ['once', 'lost'], { resync: true, stories: 60, seed: SEED });
  await expect(holds).rejects.toThrow(/Property failed/);
});
