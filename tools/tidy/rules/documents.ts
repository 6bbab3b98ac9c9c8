/** What a document names is there. */
import { posix } from 'node:path';
import type { Finding, SourceFile } from '../source-file.js';
import type { TreeRule } from './repository.js';

const LINK = /\]\((?!https?:|#|mailto:)([^)#\s]+)/g;
const QUOTED_PATH = /`((?:packages|tools|scripts|docs|acceptance|bench|\.ci)\/[\w./-]+)`/g;
const DOCUMENT = /\bdocs\/[\w./-]+\.md\b/g;

/** Links and quoted paths in Markdown, and documents that code refers a reader to. Paths with a wildcard are not looked at. */
export const namedPath: TreeRule = {
  name: 'named-path',
  instead: 'name what is there, or write what is named',
  check(files) {
    const there = new Set<string>();
    for (const { path } of files) {
      for (let part = path; part !== '.' && !there.has(part); part = posix.dirname(part)) there.add(part);
    }
    return files.flatMap((file) =>
      namedIn(file)
        .filter(({ target }) => !there.has(target))
        .map(({ finding }) => finding),
    );
  },
};

interface Named {
  readonly target: string;
  readonly finding: Finding;
}

function namedIn(file: SourceFile): Named[] {
  if (!/\.(md|ts|tsx|mjs|lua|proto)$/.test(file.path) || file.path.includes('/src/gen/') || file.path.startsWith('tools/tests/')) return [];
  const named: Named[] = [];
  for (const [index, line] of file.text.split('\n').entries()) {
    for (const target of targetsIn(file.path, line)) {
      named.push({ target: target.replace(/\/$/, ''), finding: { path: file.path, line: index + 1, what: `there is no ${target}` } });
    }
  }
  return named;
}

function targetsIn(path: string, line: string): string[] {
  const first = (pattern: RegExp): string[] => [...line.matchAll(pattern)].map((match) => match[1] ?? match[0]);
  if (!path.endsWith('.md')) return first(DOCUMENT);
  const links = first(LINK).map((target) => posix.normalize(posix.join(posix.dirname(path), target)));
  return [...new Set([...links, ...first(QUOTED_PATH), ...first(DOCUMENT)])];
}
