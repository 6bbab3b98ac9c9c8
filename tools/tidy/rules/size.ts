/** Files and functions that fit a reader's head. */
import ts from 'typescript';
import { at, type Finding, isScript, isTest, nodesOf, type Rule, type SourceFile, treeOf } from '../source-file.js';

const FILE_LINES_MAX = 400;
const TEST_FILE_LINES_MAX = 800;
const FUNCTION_LINES_MAX = 70;

export const fileLength: Rule = {
  name: 'file-length',
  instead: 'split it by what its parts are for',
  check(file) {
    if (!isScript(file.path) && !file.path.endsWith('.lua')) return [];
    const lines = file.text.trimEnd().split('\n').length;
    const max = isTest(file.path) ? TEST_FILE_LINES_MAX : FILE_LINES_MAX;
    return lines > max ? [{ path: file.path, line: 0, what: `${lines} lines, at most ${max}` }] : [];
  },
};

/** Tests are left out: a `describe` is a list, not a procedure. */
export const functionLength: Rule = {
  name: 'function-length',
  instead: 'name its steps and give each a function',
  check(file) {
    if (!isScript(file.path) || isTest(file.path)) return [];
    const found: Finding[] = [];
    for (const node of nodesOf(file)) {
      if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) continue;
      const lines = linesOf(file, node);
      if (lines > FUNCTION_LINES_MAX) found.push(at(file, node, `${nameOf(node)} has ${lines} lines, at most ${FUNCTION_LINES_MAX}`));
    }
    return found;
  },
};

function linesOf(file: SourceFile, node: ts.Node): number {
  const tree = treeOf(file);
  const first = tree.getLineAndCharacterOfPosition(node.getStart()).line;
  return tree.getLineAndCharacterOfPosition(node.getEnd()).line - first + 1;
}

function nameOf(node: ts.SignatureDeclaration): string {
  if (node.name !== undefined) return node.name.getText();
  const parent = node.parent;
  return ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) ? parent.name.getText() : 'a function';
}
