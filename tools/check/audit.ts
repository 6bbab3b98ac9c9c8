/**
 * `npm audit` of what ships. A registry that cannot be asked, as without a network, fails nothing: a check that only runs
 * online would be switched off. It is said, so that nobody takes "not asked" for "clean".
 */
import type { Outcome } from './command.js';

export type AuditVerdict =
  | { readonly kind: 'clean' }
  | { readonly kind: 'weak'; readonly problems: readonly string[] }
  /** The registry gave no answer. */
  | { readonly kind: 'notAsked'; readonly why: string };

interface Weakness {
  readonly severity?: unknown;
  readonly range?: unknown;
}

/** Of `npm audit --omit=dev --json`. */
export function auditVerdict({ stdout, output }: Pick<Outcome, 'stdout' | 'output'>): AuditVerdict {
  const report = parsed(stdout);
  const found = report?.vulnerabilities;
  if (typeof found !== 'object' || found === null) return { kind: 'notAsked', why: firstLine(report?.message ?? output) };
  const problems = Object.entries(found).map(([name, weakness]: [string, Weakness]) => {
    return `${name} ${String(weakness.range)}: ${String(weakness.severity)}; see npm audit --omit=dev`;
  });
  return problems.length === 0 ? { kind: 'clean' } : { kind: 'weak', problems };
}

function parsed(text: string): { readonly vulnerabilities?: unknown; readonly message?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function firstLine(text: unknown): string {
  return String(text).trim().split('\n')[0] ?? '';
}
