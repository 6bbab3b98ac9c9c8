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

/** White space is the only freedom of a quotation: the seed's tables are separated by tabs. */
function squeezed(text: string): string {
  return text.replace(/\s+/g, '');
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
  for (const { line, code, tests, differs, notes } of entries) {
    if (code.length + tests.length + differs + notes === 0) problems.push(`line ${line}: says nothing about its clause`);
    for (const { path, name } of code) {
      if (!existsSync(join(root, path))) problems.push(`line ${line}: there is no ${path}`);
      else if (!declares(path, readFileSync(join(root, path), 'utf8'), name)) problems.push(`line ${line}: ${path} declares no ${name}`);
    }
    for (const { path, name } of tests) {
      if (!existsSync(join(root, path))) problems.push(`line ${line}: there is no ${path}`);
      else if (!literalsOf(path, readFileSync(join(root, path), 'utf8')).has(name)) {
        problems.push(`line ${line}: ${path} has no test named: ${name}`);
      }
    }
  }
  return problems;
}

/** `Class.member` for what is declared inside; in other files than TypeScript the text is enough. */
function declares(path: string, text: string, symbol: string): boolean {
  if (!/\.tsx?$/.test(path)) return text.includes(symbol);
  const parts = symbol.split('.');
  return parts.every((part) => declaredIn(path, text).has(part));
}

function declaredIn(path: string, text: string): Set<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    const name = 'name' in node ? (node.name as ts.Node | undefined) : undefined;
    if (name !== undefined && isNamed(node)) names.add(name.getText());
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  return names;
}

function isNamed(node: ts.Node): boolean {
  return (
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isMethodSignature(node) ||
    ts.isPropertySignature(node) ||
    ts.isPropertyAssignment(node) ||
    ts.isShorthandPropertyAssignment(node)
  );
}

/** Test names are literals, in a call of `test` or as the keys of a table that becomes tests. */
function literalsOf(path: string, text: string): Set<string> {
  const literals = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) literals.add(node.text);
    if (ts.isTemplateExpression(node)) literals.add(node.getText().slice(1, -1));
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  return literals;
}
