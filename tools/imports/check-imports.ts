/** Runs dependency-cruiser over a tree and makes sure that it looked: it is known to pass with 'no violations' over 0 modules. */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { tool } from '../check/command.js';

interface Config {
  readonly forbidden: readonly { readonly name: string; readonly comment: string }[];
}

interface Violation {
  readonly from: string;
  readonly to: string;
  readonly rule: { readonly name: string };
  readonly cycle?: readonly { readonly name: string }[];
}

interface Cruise {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: { readonly violations: readonly Violation[] };
}

export interface ImportReport {
  readonly seen: ReadonlySet<string>;
  /** `rule: from -> to; what to do instead`. */
  readonly violations: readonly string[];
}

const CONFIG = fileURLToPath(new URL('../../.dependency-cruiser.cjs', import.meta.url));
const SOURCE = /^(packages\/[^/]+|acceptance|bench)\/(src|tests)\/.*\.tsx?$/;

/** @throws when dependency-cruiser ends without a report. */
export async function cruise(root: string, folders: readonly string[]): Promise<ImportReport> {
  const run = await tool('depcruise', [...folders, '--config', CONFIG, '--output-type', 'json'], root);
  if (!run.stdout.startsWith('{')) throw new Error(`dependency-cruiser: ${run.output}`);
  const report = JSON.parse(run.stdout) as Cruise;
  const { forbidden } = createRequire(import.meta.url)(CONFIG) as Config;
  const insteadOf = new Map(forbidden.map(({ name, comment }) => [name, comment]));
  return {
    seen: new Set(report.modules.map((module) => module.source)),
    violations: report.summary.violations.map((v) => {
      const to = v.cycle === undefined ? v.to : v.cycle.map((step) => step.name).join(' -> ');
      return `${v.rule.name}: ${v.from} -> ${to}; ${insteadOf.get(v.rule.name) ?? 'see .dependency-cruiser.cjs'}`;
    }),
  };
}

/** Source files that must be in the report. */
export function expectedModules(tracked: readonly string[]): string[] {
  return tracked.filter((path) => SOURCE.test(path));
}

/** Problems, one a line; empty when all directions hold and every source file was seen. */
export async function checkImports(root: string, tracked: readonly string[]): Promise<string[]> {
  const expected = expectedModules(tracked);
  if (expected.length === 0) return ['no source file was found to look at'];
  const report = await cruise(root, ['packages', 'acceptance', 'bench']);
  const unseen = expected.filter((path) => !report.seen.has(path));
  return [...report.violations, ...unseen.map((path) => `not seen by dependency-cruiser: ${path}`)];
}
