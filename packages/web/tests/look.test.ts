/** What stands for somebody where there is no picture. */
import { expect, test } from 'vitest';
import { initialsOf, lookOf } from '../src/shared/look.js';

test.each([
  ['Alice Berg', 'AB'],
  ['bob', 'B'],
  ['Anna  Maria von Berg', 'AB'],
  ['“Tea at four”', 'TF'],
  ['艾丽', '艾'],
  ['周日 爬山', '周爬'],
  ['Élodie', 'É'],
  ['👩‍🚀', '👩'],
  ['  ', '?'],
  ['', '?'],
])('the letters of “%s” are “%s”', (name, letters) => {
  expect(initialsOf(name)).toBe(letters);
});

test('an id has the same colour at each visit, and many ids have them all', () => {
  expect(lookOf('alice')).toBe(lookOf('alice'));
  const fills = new Set(Array.from({ length: 200 }, (_, n) => lookOf(`user-${n}`).fill));
  expect(fills.size).toBe(10);
});
