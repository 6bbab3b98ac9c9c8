/** What schedules of tests rest on. */
import { expect, test } from 'vitest';
import { SEEDS, seededRandom } from '../src/testing/random.js';

const drawn = (seed: number) => {
  const random = seededRandom(seed);
  return Array.from({ length: 1_000 }, () => random.below(10));
};

test('a seed makes the same numbers again, and its neighbour others', () => {
  expect(drawn(7)).toEqual(drawn(7));
  expect(drawn(7)).not.toEqual(drawn(8));
  expect(drawn(SEEDS - 1)).toEqual(drawn(SEEDS - 1));
});

test('every number below the bound comes, about as often as the others, and none past it', () => {
  const counts = new Map<number, number>();
  for (const number of drawn(3)) counts.set(number, (counts.get(number) ?? 0) + 1);
  expect([...counts.keys()].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  for (const count of counts.values()) expect(count).toBeGreaterThan(60);
});

test('one of several is picked; of none there is nothing to pick', () => {
  expect(['a', 'b']).toContain(seededRandom(1).pick(['a', 'b']));
  expect(() => seededRandom(1).pick([])).toThrow('nothing to pick');
});
