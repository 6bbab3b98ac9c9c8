/** What stands for somebody where there is no picture. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { initialsOf, lookOf, pictureOf } from '../src/shared/look.js';

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

test.each([
  ['https://chat.example/a/alice.png', 'https://chat.example/a/alice.png'],
  ['https://elsewhere.example/alice.png', undefined],
  ['https://chat.example.evil.example/alice.png', undefined],
  ['http://chat.example/alice.png', undefined],
  ['https://chat.example:444/alice.png', undefined],
  [`${'java'}script:alert(1)`, undefined],
  ['alice.png', undefined],
  ['', undefined],
  [undefined, undefined],
])('of %s the page shows %s', (avatarUrl, shown) => {
  expect(pictureOf(avatarUrl, 'https://chat.example')).toBe(shown);
});

describe('the colours of people', () => {
  const css = readFileSync(new URL('../src/styles.css', import.meta.url), 'utf8');
  const [light = '', dark = ''] = css.split('@utility dark-colours');
  const coloursOf = (part: string, name: RegExp): string[] => [...part.matchAll(name)].map(([, colour]) => colour ?? '');
  const WHO = /--color-who-\d: (#[0-9a-f]{6});/g;

  test.each([
    ['names in light', coloursOf(light, WHO), '#ffffff'],
    ['names in dark', coloursOf(dark, WHO), '#21292f'],
    ['letters on their fill', coloursOf(light, /--color-fill-\d: (#[0-9a-f]{6});/g), '#ffffff'],
  ])('can be read: %s', (_, colours, ground) => {
    expect(colours).toHaveLength(10);
    expect(coloursOf(css, /--color-other: (#[0-9a-f]{6});/g)).toEqual(['#ffffff', '#21292f']);
    for (const colour of colours) expect(contrast(colour, ground), colour).toBeGreaterThanOrEqual(4.5);
  });
});

/** As WCAG 2 has it, 1..21. */
function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
