import { expect, test } from 'vitest';
import { Cell } from '../src/observable.js';
import { Turns } from '../src/react/turns.js';

/** Two cells in one set of turns, what their listeners were told, and the turns to come. */
function setup() {
  const coming: (() => void)[] = [];
  const turns = new Turns((run) => coming.push(run));
  const [a, b] = [new Cell(0), new Cell(0)];
  const told: string[] = [];
  const ends = [
    turns.of(a.subscribe)(() => told.push(`a ${a.snapshot()}`)),
    turns.of(a.subscribe)(() => told.push(`again a ${a.snapshot()}`)),
    turns.of(b.subscribe)(() => told.push(`b ${b.snapshot()}`)),
  ];
  return { coming, a, b, told, ends };
}

test('however often it changes, a listener is told once, and all in the same turn', () => {
  const { coming, a, b, told } = setup();
  for (let n = 1; n <= 100; n += 1) a.set(n);
  b.set(1);
  expect([told, coming.length]).toEqual([[], 1]);
  coming.shift()?.();
  expect(told).toEqual(['a 100', 'again a 100', 'b 1']);
});

test('a change after a turn, or within one, makes the next turn', () => {
  const { coming, a, b, told } = setup();
  b.subscribe(() => a.set(2));
  a.set(1);
  coming.shift()?.();
  b.set(1);
  coming.shift()?.();
  expect([told, coming.length]).toEqual([['a 1', 'again a 1', 'b 1', 'a 2', 'again a 2'], 0]);
});

test('who has ended is not told any more, not even of what changed before', () => {
  const { coming, a, told, ends } = setup();
  a.set(1);
  ends[0]?.();
  coming.shift()?.();
  a.set(2);
  coming.shift()?.();
  expect(told).toEqual(['again a 1', 'again a 2']);
});
