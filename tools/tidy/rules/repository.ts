/** Rules about the tree as a whole. */
import type { Finding, SourceFile } from '../source-file.js';

export interface TreeRule {
  readonly name: string;
  readonly instead: string;
  readonly check: (files: readonly SourceFile[]) => Finding[];
}

const PACKAGE = /^packages\/([^/]+)\/package\.json$/;

export const packageReadme: TreeRule = {
  name: 'package-readme',
  instead: 'write README.md in the package: what it owns, what it may import, where to start reading',
  check(files) {
    const paths = new Set(files.map((file) => file.path));
    return files
      .filter((file) => PACKAGE.test(file.path))
      .map((file) => file.path.replace('package.json', 'README.md'))
      .filter((readme) => !paths.has(readme))
      .map((path) => ({ path, line: 0, what: 'missing' }));
  },
};

const REQUIRED = ['LICENSE', 'README.md', 'README.zh-CN.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'package-lock.json'];

export const frontDoor: TreeRule = {
  name: 'front-door',
  instead: 'restore it: a newcomer, and the licence, need it',
  check(files) {
    const paths = new Set(files.map((file) => file.path));
    return REQUIRED.filter((path) => !paths.has(path)).map((path) => ({ path, line: 0, what: 'missing' }));
  },
};

const RANGE = /^[\^~><*]|^$|^latest$/;

export const exactVersion: TreeRule = {
  name: 'exact-version',
  instead: 'name the exact version, so that an install today and one next year are the same',
  check(files) {
    return files.filter((file) => file.path.endsWith('package.json')).flatMap(rangesIn);
  },
};

function rangesIn(file: SourceFile): Finding[] {
  const manifest = JSON.parse(file.text) as Record<string, Record<string, string> | undefined>;
  const found: Finding[] = [];
  for (const section of ['dependencies', 'devDependencies', 'optionalDependencies']) {
    for (const [name, version] of Object.entries(manifest[section] ?? {})) {
      if (RANGE.test(version)) found.push({ path: file.path, line: 0, what: `${name} ${version}` });
    }
  }
  return found;
}
