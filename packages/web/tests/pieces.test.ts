import { describe, expect, test } from 'vitest';
import { askedAt, candidatesFor, namedIn, withName } from '../src/compose/mentions.js';
import { piecesOf } from '../src/shared/rich-text.js';

const links = (text: string): string[] => piecesOf(text, []).flatMap((piece) => (piece.kind === 'link' ? [piece.href] : []));
const joined = (text: string, names: string[] = []): string =>
  piecesOf(text, names)
    .map((piece) => piece.text)
    .join('');

describe('links in a text', () => {
  test.each([
    ['see http://example.org/a?b=1.', ['http://example.org/a?b=1']],
    ['(https://example.org/x)', ['https://example.org/x']],
    ['https://en.wikipedia.org/wiki/Hash_(a)', ['https://en.wikipedia.org/wiki/Hash_(a)']],
    ['看 https://example.org/路，然后', ['https://example.org/%E8%B7%AF']],
    ['two: https://a.example https://b.example!', ['https://a.example/', 'https://b.example/']],
  ])('are found without what ends the sentence: %s', (text, hrefs) => {
    expect(links(text)).toEqual(hrefs);
    expect(joined(text)).toBe(text);
  });

  test.each([
    `${'java'}script:alert(1)`,
    'data:text/html,x',
    'ftp://example.org',
    'file:///etc/passwd',
    'http://',
    'https://[',
    'mailto:a@b.c',
  ])('are http and https alone: %s', (text) => {
    expect(links(text)).toEqual([]);
    expect(joined(text)).toBe(text);
  });

  test('never carry markup', () => {
    expect(links('https://example.org/"><script>alert(1)</script>')).toEqual(['https://example.org/']);
  });
});

test('a mention is told from the rest, the longest name first, and nothing of the text is lost', () => {
  const pieces = piecesOf('hi @Anna and @Ann, not @bob', ['Ann', 'Anna']);
  expect(pieces.filter(({ kind }) => kind === 'mention').map(({ text }) => text)).toEqual(['@Anna', '@Ann']);
  expect(joined('hi @Anna and @Ann, not @bob', ['Ann', 'Anna'])).toBe('hi @Anna and @Ann, not @bob');
});

describe('naming somebody as one writes', () => {
  test('is asked for behind an @ that begins a word, and nowhere else', () => {
    expect(askedAt('hi @bo', 6)).toEqual({ from: 3, begun: 'bo' });
    expect(askedAt('@', 1)).toEqual({ from: 0, begun: '' });
    expect(askedAt('mail@bo', 7)).toBeUndefined();
    expect(askedAt('hi @bo there', 12)).toBeUndefined();
  });

  test('offers those whose name or id begins so', () => {
    const people = [
      { userId: 'u1', name: 'Bob' },
      { userId: 'bo2', name: 'Zed' },
      { userId: undefined, name: 'all' },
    ];
    expect(candidatesFor('BO', people, 6).map(({ name }) => name)).toEqual(['Bob', 'Zed']);
    expect(candidatesFor('', people, 2)).toHaveLength(2);
  });

  test('puts the name in, and names in the end only those who are still there', () => {
    const done = withName('hi @bo there', { from: 3, begun: 'bo' }, 6, 'Bob');
    expect(done).toEqual({ text: 'hi @Bob  there', caret: 8 });
    const chosen = [
      { userId: 'u1', name: 'Bob' },
      { userId: 'u2', name: 'Carol' },
      { userId: undefined, name: 'all' },
    ];
    expect(namedIn('hi @Bob @all', chosen)).toEqual({ mentionUserIds: ['u1'], mentionAll: true });
    expect(namedIn('hi', chosen)).toEqual({ mentionUserIds: [], mentionAll: false });
  });
});
