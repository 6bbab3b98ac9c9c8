import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { en } from '../src/i18n/en.js';
import { zh } from '../src/i18n/zh.js';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));
const holes = (text: string): string[] => [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name ?? '').sort();
const components = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.tsx'));

describe('the sentences of the page', () => {
  test('are the same ones in both languages, but for the plural forms that Chinese has not', () => {
    expect(Object.keys(zh).sort()).toEqual(
      Object.keys(en)
        .filter((key) => !key.endsWith('_one'))
        .sort(),
    );
  });

  test.each(Object.entries(zh))('take the same words in braces: %s', (key, text) => {
    expect(holes(text)).toEqual(holes(en[key as keyof typeof en]));
  });

  test.each(components)('are all said through i18n: %s', (path) => {
    const source = readFileSync(join(SRC, path), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
    const literal =
      />\s*[A-Za-z][a-z]+ ?[a-z]*[.…!?]?\s*<\//.exec(source)?.[0] ?? /(?:label|title|placeholder|alt)="[A-Z][^"]*"/.exec(source)?.[0];
    expect(literal).toBeUndefined();
  });

  test('are all used', () => {
    const all = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.tsx?$/.test(path) && !path.startsWith('i18n/'))
      .map((path) => readFileSync(join(SRC, path), 'utf8'))
      .join('\n');
    // Built from a value: error.<reason>, role.<role>, signIn.<failure>, and the three dialogs of a message.
    const built = /^(error|role|signIn|recall|delete|report)\./;
    const unused = Object.keys(en).filter((key) => !built.test(key) && !all.includes(`'${key.replace(/_(one|other)$/, '')}'`));
    expect(unused).toEqual([]);
  });
});
