/** A short run of `npm run chaos` on each store, on what was built: the faults of its seed, and nothing lost. */
import { expect, test } from 'vitest';
import { runChaos } from '../chaos/run-chaos.js';
import type { StoreName } from '../chaos/schedule.js';

const SECONDS = 15;

test.each<{ store: StoreName; servers: number; seed: number }>([
  { store: 'embedded', servers: 1, seed: 20 },
  { store: 'redis', servers: 2, seed: 21 },
  { store: 'cluster', servers: 2, seed: 22 },
])(
  '$store: nothing acknowledged is lost or doubled, counts are right, devices converge, no server grows',
  async ({ store, servers, seed }) => {
    const lines: string[] = [];
    const held = await runChaos({ store, servers, seed, minutes: SECONDS / 60, print: (line) => lines.push(line) });
    expect(held, lines.join('\n')).toBe(true);
  },
  240_000,
);
