/** All rules of our own over all files. What a general linter knows is left to biome and oxlint. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Exception } from './exceptions.js';
import { clock, environment, sleep, unrunTest } from './rules/ambient.js';
import { namedPath } from './rules/documents.js';
import { exactVersion, frontDoor, packageReadme, type TreeRule } from './rules/repository.js';
import { fileLength, functionLength } from './rules/size.js';
import { brandCast, keyLiteral, oldHistory } from './rules/store.js';
import { leftOver, limit, machinePath } from './rules/words.js';
import type { Finding, Rule, SourceFile } from './source-file.js';

export const RULES: readonly Rule[] = [
  fileLength,
  functionLength,
  environment,
  clock,
  sleep,
  unrunTest,
  oldHistory,
  keyLiteral,
  brandCast,
  leftOver,
  machinePath,
  limit,
];

export const TREE_RULES: readonly TreeRule[] = [packageReadme, frontDoor, exactVersion, namedPath];

const BINARY = /\.(png|jpe?g|ico|woff2?|binpb|bin|dat|golden)$/;

/** Of pictures and the like only that they are there is known. */
export async function readFiles(root: string, paths: readonly string[]): Promise<SourceFile[]> {
  return Promise.all(paths.map(async (path) => ({ path, text: BINARY.test(path) ? '' : await readFile(join(root, path), 'utf8') })));
}

/** Problems, one a line, each with what to do instead; empty when the tree is tidy. */
export function tidy(files: readonly SourceFile[], exceptions: readonly Exception[]): string[] {
  if (files.length === 0) return ['no file was found to look at'];
  const problems: string[] = [];
  for (const rule of RULES) {
    problems.push(
      ...reported(
        rule,
        files.flatMap((file) => rule.check(file)),
        exceptions,
      ),
    );
  }
  for (const rule of TREE_RULES) problems.push(...reported(rule, rule.check(files), exceptions));
  return [...problems, ...unknownRules(exceptions)];
}

function reported(rule: Rule | TreeRule, findings: readonly Finding[], exceptions: readonly Exception[]): string[] {
  const problems: string[] = [];
  const allowed = exceptions.filter((exception) => exception.rule === rule.name);
  for (const { path, times } of allowed) {
    const found = findings.filter((finding) => finding.path === path).length;
    if (found < times) {
      problems.push(`${rule.name}: tools/tidy/exceptions.ts allows ${path} ${times}, but there are ${found}; instead: lower it`);
    }
  }
  const budget = new Map(allowed.map(({ path, times }) => [path, times]));
  for (const { path, line, what } of findings) {
    const left = budget.get(path) ?? 0;
    budget.set(path, left - 1);
    if (left <= 0) problems.push(`${rule.name}: ${path}${line === 0 ? '' : `:${line}`}: ${what}; instead: ${rule.instead}`);
  }
  return problems;
}

function unknownRules(exceptions: readonly Exception[]): string[] {
  const names = new Set([...RULES, ...TREE_RULES].map((rule) => rule.name));
  return exceptions.filter(({ rule }) => !names.has(rule)).map(({ rule }) => `tools/tidy/exceptions.ts names no rule: ${rule}`);
}
