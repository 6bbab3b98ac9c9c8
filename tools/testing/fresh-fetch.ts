/** State plus events equals a fresh fetch: the check, over any store. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { type Backing, DeviceWorld, type Fate, stories } from './device-world.js';

let tenants = 0;

/** `resync`: whether the devices are told at the end that events may have been lost. Rejects with the shrunk story. */
export async function freshFetchHolds(
  backing: Backing,
  fates: readonly Fate[],
  options: { resync: boolean; stories: number; seed: number },
) {
  const property = fc.asyncProperty(stories(fates), async (story) => {
    tenants += 1;
    const world = new DeviceWorld(backing, tenants, story.fates);
    try {
      await world.play(story);
      if (options.resync) await world.resync();
      for (const { who, shown, fresh } of await world.views()) expect(shown, who).toEqual(fresh);
    } finally {
      world.end();
    }
  });
  await fc.assert(property, { seed: options.seed, numRuns: options.stories, plugins: [fc.interruptAfterTimeLimit(60_000)] });
}
