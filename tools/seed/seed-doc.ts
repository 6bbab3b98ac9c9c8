/**
 * Reads docs/seed.md and its Chinese twin, and says what in them does not hold.
 *
 * An entry is a quotation of the seed and what follows it: `code` lines name a path and a symbol declared there, `test`
 * lines a path and the exact name of a test, `differs` lines say where qim does something else and why, `note` lines that
 * the clause asks for nothing. The quotations, in their order, must be the whole seed.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

export interface Reference {
  readonly path: string;
  readonly name: string;
}

export interface Entry {
  /** Line of the document where the quotation begins, from 1. */
  readonly line: number;
  readonly quote: string;
  readonly code: readonly Reference[];
  readonly tests: readonly Reference[];
  readonly differs: number;
  readonly notes: number;
}

interface Words {
  readonly code: string;
  readonly test: string;
  readonly differs: string;
  readonly note: string;
}

export const ENGLISH: Words = { code: '- code: ', test: '- test: ', differs: '- differs: ', note: '- note: ' };
export const CHINESE: Words = { code: '- 代码：', test: '- 测试：', differs: '- 差异：', note: '- 说明：' };

/** A path and a name, each in backquotes; a test's name may itself hold none. */
const REFERENCE = /^`([^`]+)` `([^`]+)`$/;

export function entriesOf(markdown: string, words: Words): Entry[] {
  const entries: { line: number; quote: string[]; body: string[] }[] = [];
  let quoting = false;
  for (const [index, line] of markdown.split('\n').entries()) {
    const isQuote = line.startsWith('> ');
    if (isQuote && !quoting) entries.push({ line: index + 1, quote: [], body: [] });
    quoting = isQuote;
    const current = entries.at(-1);
    if (isQuote) current?.quote.push(line.slice(2));
    else current?.body.push(line);
  }
  return entries.map(({ line, quote, body }) => ({
    line,
    quote: quote.join('\n'),
    code: references(body, words.code, line),
    tests: references(body, words.test, line),
    differs: body.filter((text) => text.startsWith(words.differs)).length,
    notes: body.filter((text) => text.startsWith(words.note)).length,
  }));
}

function references(body: readonly string[], word: string, line: number): Reference[] {
  return body
    .filter((text) => text.startsWith(word))
    .map((text) => {
      const [, path, name] = REFERENCE.exec(text.slice(word.length)) ?? [];
      if (path === undefined || name === undefined) throw new Error(`line ${line}: not \`path\` \`name\`: ${text}`);
      return { path, name };
    });
}

/** White space and code marks are the only freedom of a quotation: the seed's tables are separated by tabs, and it holds code. */
function squeezed(text: string): string {
  return text.replace(/[\s`]+/g, '');
}

/** Problems, one a line: what was quoted wrongly, and what of the seed was left out. */
export function quotationProblems(entries: readonly Entry[], seed: string): string[] {
  const problems: string[] = [];
  const whole = squeezed(seed);
  let at = 0;
  for (const { line, quote } of entries) {
    const found = whole.indexOf(squeezed(quote), at);
    if (found < 0) problems.push(`line ${line}: not in the seed, or not in its order: ${quote}`);
    else {
      if (found > at) problems.push(`line ${line}: left out before this quotation: ${whole.slice(at, found)}`);
      at = found + squeezed(quote).length;
    }
  }
  if (at < whole.length) problems.push(`left out at the end: ${whole.slice(at)}`);
  return problems;
}

export function referenceProblems(entries: readonly Entry[], root: string): string[] {
  const problems: string[] = [];
  const known = new Map<string, SourceNames | undefined>();
  const namesIn = (path: string): SourceNames | undefined => {
    if (!known.has(path))
      known.set(path, existsSync(join(root, path)) ? readNames(path, readFileSync(join(root, path), 'utf8')) : undefined);
    return known.get(path);
  };
  for (const { line, code, tests, differs, notes } of entries) {
    if (code.length + tests.length + differs + notes === 0) problems.push(`line ${line}: says nothing about its clause`);
    for (const { path } of [...code, ...tests]) {
      if (namesIn(path) === undefined) problems.push(`line ${line}: there is no ${path}`);
    }
    for (const { path, name } of code) {
      if (namesIn(path)?.declares(name) === false) problems.push(`line ${line}: ${path} declares no ${name}`);
    }
    for (const { path, name } of tests) {
      if (namesIn(path)?.literals.has(name) === false) problems.push(`line ${line}: ${path} has no test named: ${name}`);
    }
  }
  return problems;
}

interface SourceNames {
  /** `Class.member` for what is declared inside; `./file.js` for what is exported from there. Other files: any text. */
  readonly declares: (symbol: string) => boolean;
  /** Test names are literals, in a call of `test` or as the keys of a table that becomes tests. */
  readonly literals: ReadonlySet<string>;
}

function readNames(path: string, text: string): SourceNames {
  const literals = new Set<string>();
  if (!/\.tsx?$/.test(path)) return { declares: (symbol) => text.includes(symbol), literals };
  const declared = new Set<string>();
  const visit = (node: ts.Node): void => {
    const name = 'name' in node ? (node.name as ts.Node | undefined) : undefined;
    if (name !== undefined && isNamed(node)) declared.add(name.getText());
    if (ts.isStringLiteralLike(node)) literals.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  const exportsFrom = (file: string): boolean => text.includes(`from '${file}'`);
  const declares = (symbol: string): boolean =>
    symbol.startsWith('./') ? exportsFrom(symbol) : symbol.split('.').every((part) => declared.has(part));
  return { declares, literals };
}

function isNamed(node: ts.Node): boolean {
  return (
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isGetAccessorDeclaration(node) ||
    ts.isMethodSignature(node) ||
    ts.isPropertySignature(node) ||
    ts.isPropertyAssignment(node) ||
    ts.isShorthandPropertyAssignment(node)
  );
}
