/** What a text may not hold, and limits that hide in code. */
import ts from 'typescript';
import { at, type Finding, isScript, isShipped, isTestSupport, linesMatching, nodesOf, type Rule } from '../source-file.js';

const isText = (path: string): boolean => /\.(ts|tsx|mjs|cjs|js|lua|css|sh|html|md|json|ya?ml|proto|txt)$|^[^.]+$/.test(path);

// Each alternative is broken up so that this file does not break its own rule.
const LEFT_OVER = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX'].join('|')})\\b`);

export const leftOver: Rule = {
  name: 'left-over',
  instead: 'do it, or open an issue: what is left for later is written down where it is planned',
  check: (file) => (isText(file.path) && file.path !== 'docs/seed-source.zh.txt' ? linesMatching(file, LEFT_OVER, 'left over') : []),
};

const MACHINE_PATH = /(^|[\s'"`(=])(\/home\/[a-z]|\/root\/|\/Users\/|\/work\/|[A-Z]:\\)/;

export const machinePath: Rule = {
  name: 'machine-path',
  instead: 'name it relative to the repository or to the file, or take a temporary folder from node:os',
  check: (file) => (isText(file.path) ? linesMatching(file, MACHINE_PATH, 'a path that exists on one machine') : []),
};

const CONSTS_FILE = /^packages\/proto\/src\/consts(-[a-z]+)?\.ts$/;
/** From here on a plain decimal number is more likely a limit than arithmetic or a code. */
const LIMIT_FROM = 10_000;
/** Facts of the world rather than limits of ours: milliseconds of a minute, hour and day, TCP ports, slots of a Redis Cluster. */
const FACTS = new Set([60_000, 3_600_000, 86_400_000, 65_535, 16_384]);

/** A modest check: decimal numbers from 10 000 on, and multiples of 1024, outside consts.ts. Hexadecimal is layout, not a limit. */
export const limit: Rule = {
  name: 'limit',
  instead: 'name it in packages/proto/src/consts.ts with its unit and reason, and test at the bound and past it',
  check(file) {
    if (!isShipped(file.path) || !isScript(file.path) || isTestSupport(file.path) || CONSTS_FILE.test(file.path)) return [];
    const found: Finding[] = [];
    for (const node of nodesOf(file)) {
      if (ts.isBinaryExpression(node) && /^\d+ \* 1_?024\b/.test(node.getText())) found.push(at(file, node, node.getText()));
      if (!ts.isNumericLiteral(node) || /^0[xbo]/i.test(node.getText())) continue;
      const value = Number(node.text);
      if (value >= LIMIT_FROM && !FACTS.has(value)) found.push(at(file, node, node.getText()));
    }
    return found;
  },
};
