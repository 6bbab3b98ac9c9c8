/** Environment, time and chance arrive as arguments; what reaches for them is found here. */
import ts from 'typescript';
import { at, type Finding, isScript, isShipped, isTest, isTestSupport, nodesOf, type Rule } from '../source-file.js';

const READS_ENVIRONMENT = /^packages\/server\/src\/environment\.ts$/;

export const environment: Rule = {
  name: 'environment',
  instead: 'add a row to the settings table in packages/server/src/settings.ts and take the value as an argument',
  check(file) {
    if (!isShipped(file.path) || !isScript(file.path) || READS_ENVIRONMENT.test(file.path)) return [];
    const found: Finding[] = [];
    for (const node of nodesOf(file)) {
      if (ts.isPropertyAccessExpression(node) && node.getText() === 'process.env') found.push(at(file, node, 'process.env'));
    }
    return found;
  },
};

const CALLS = new Set(['Date.now', 'Math.random', 'performance.now', 'setTimeout', 'setInterval', 'setImmediate', 'Date']);
const isTimer = (name: string): boolean => name === 'setTimeout' || name === 'setInterval';

/** A reference counts too (`now = Date.now`), and `new Date()` without an argument reads the clock. */
export const clock: Rule = {
  name: 'clock',
  instead: 'take the time, the timer or the random source as an argument; the composition root passes the real one',
  check(file) {
    if (!isShipped(file.path) || !isScript(file.path) || isTestSupport(file.path)) return [];
    const found: Finding[] = [];
    for (const node of nodesOf(file)) {
      if (ts.isPropertyAccessExpression(node) && CALLS.has(node.getText())) found.push(at(file, node, node.getText()));
      if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && CALLS.has(node.expression.text)) {
        found.push(at(file, node, node.expression.text));
      }
      if (ts.isNewExpression(node) && node.expression.getText() === 'Date' && (node.arguments?.length ?? 0) === 0) {
        found.push(at(file, node, 'new Date()'));
      }
      if (ts.isImportDeclaration(node) && node.moduleSpecifier.getText().includes('timers/promises')) {
        found.push(at(file, node, 'node:timers/promises'));
      }
    }
    return found;
  },
};

export const sleep: Rule = {
  name: 'sleep-in-test',
  instead: 'wait for the condition itself: an event, or vi.waitFor; or pass a clock that the test moves',
  check(file) {
    if (!isTest(file.path) || !isScript(file.path)) return [];
    const found: Finding[] = [];
    for (const node of nodesOf(file)) {
      if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && isTimer(node.expression.text)) {
        found.push(at(file, node, node.expression.text));
      }
      if (ts.isImportDeclaration(node) && node.moduleSpecifier.getText().includes('timers/promises')) {
        found.push(at(file, node, 'node:timers/promises'));
      }
    }
    return found;
  },
};

const UNRUN = new Set(['skip', 'only', 'todo', 'skipIf', 'runIf']);
const RUNNERS = /^(test|it|describe)(\.|$)/;

export const unrunTest: Rule = {
  name: 'unrun-test',
  instead: 'make it run, or delete it: a run that leaves something out must not look whole',
  check(file) {
    if (!isScript(file.path) || !(isTest(file.path) || isTestSupport(file.path))) return [];
    const found: Finding[] = [];
    for (const node of nodesOf(file)) {
      if (!ts.isPropertyAccessExpression(node) || !UNRUN.has(node.name.text)) continue;
      if (RUNNERS.test(node.expression.getText())) found.push(at(file, node, node.getText()));
    }
    return found;
  },
};
