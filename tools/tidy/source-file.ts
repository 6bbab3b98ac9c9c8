/** What a rule sees: one tracked file, its text, and its syntax tree where it is TypeScript or JavaScript. */
import ts from 'typescript';

export interface SourceFile {
  /** Repository-relative, forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** Where a rule is broken. */
export interface Finding {
  readonly path: string;
  /** From 1; 0: the file as a whole. */
  readonly line: number;
  readonly what: string;
}

export interface Rule {
  readonly name: string;
  /** Completes 'instead: …'. */
  readonly instead: string;
  readonly check: (file: SourceFile) => Finding[];
}

const trees = new WeakMap<SourceFile, ts.SourceFile>();

export function treeOf(file: SourceFile): ts.SourceFile {
  const known = trees.get(file);
  if (known !== undefined) return known;
  const tree = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true);
  trees.set(file, tree);
  return tree;
}

/** Every node of the file, parents first. */
export function* nodesOf(file: SourceFile): Generator<ts.Node> {
  const waiting: ts.Node[] = [treeOf(file)];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    yield node;
    ts.forEachChild(node, (child) => void waiting.push(child));
  }
}

export function at(file: SourceFile, node: ts.Node, what: string): Finding {
  const line = treeOf(file).getLineAndCharacterOfPosition(node.getStart()).line + 1;
  return { path: file.path, line, what };
}

/** Findings for each line that matches. */
export function linesMatching(file: SourceFile, pattern: RegExp, what: string): Finding[] {
  const found: Finding[] = [];
  for (const [index, line] of file.text.split('\n').entries()) {
    if (pattern.test(line)) found.push({ path: file.path, line: index + 1, what });
  }
  return found;
}

export const isScript = (path: string): boolean => /\.(ts|tsx|mjs|cjs|js)$/.test(path) && !path.includes('/src/gen/');
/** What a package ships, generated code apart. */
export const isShipped = (path: string): boolean => /^packages\/[^/]+\/src\//.test(path) && !path.includes('/src/gen/');
export const isTest = (path: string): boolean => /^(packages\/[^/]+|acceptance|bench|tools)\/tests\//.test(path);
/** Served to tests and never to users. */
export const isTestSupport = (path: string): boolean => path.startsWith('packages/store/src/testing/');
