/**
 * What one setting is, and the kinds of value that settings have.
 *
 * A setting's value arrives as text, from a flag or from the environment; `parse` is the only way in, and the default
 * takes the same way.
 */
import { isQimError, parseTenantId, type TenantId } from '@qim/proto';

export interface Setting<T> {
  /** What a flag takes, as shown in help, such as `N`; undefined: a switch, which takes nothing. */
  readonly value: string | undefined;
  /** Completes '<flag> must be …'. */
  readonly allowed: string;
  /** Undefined: the text is not one of `allowed`. @throws Refusal with more to say than that */
  readonly parse: (text: string) => T | undefined;
  /** As text, hence shown as it would be typed; undefined: not set. */
  readonly fallback: string | undefined;
  /** One sentence or two for the operator. Plain text without line ends. */
  readonly doc: string;
  /** The value is never printed or logged. */
  readonly secret?: true;
}

/** A value that is understood and still not taken; the message completes '<flag>: …' and must not repeat the value. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

type Kind<T> = Pick<Setting<T>, 'value' | 'allowed' | 'parse'>;

export const toggle: Kind<boolean> = {
  value: undefined,
  allowed: 'true or false',
  parse: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
};

export function integer(min: number, max: number): Kind<number> {
  return {
    value: 'N',
    allowed: `an integer ${min}..${max}`,
    parse: (text) => {
      const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      return value >= min && value <= max ? value : undefined;
    },
  };
}

/** The tenant that a part of a rule names in decimal. */
export function tenantFrom(digits: string): TenantId | 'none' {
  try {
    return parseTenantId(Number(digits));
  } catch (error) {
    if (isQimError(error)) return 'none';
    throw error;
  }
}

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `250ms`, `10s`, `5m`, `24h`, `7d`; the value is in milliseconds. */
export function duration(minMs: number, maxMs: number): Kind<number> {
  return {
    value: 'TIME',
    allowed: `a time such as 500ms, 10s, 5m, 24h, from ${durationText(minMs)} to ${durationText(maxMs)}`,
    parse: (text) => {
      const match = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text);
      if (match === null) return undefined;
      const value = Number(match[1]) * UNITS[match[2] as keyof typeof UNITS];
      return value >= minMs && value <= maxMs ? value : undefined;
    },
  };
}

/** The shortest form that `duration` reads back as the same number. */
export function durationText(ms: number): string {
  const unit = (['d', 'h', 'm', 's'] as const).find((name) => ms > 0 && ms % UNITS[name] === 0);
  return unit === undefined ? `${ms}ms` : `${ms / UNITS[unit]}${unit}`;
}

export function oneOf<const T extends string>(...allowed: readonly T[]): Kind<T> {
  return { value: allowed.join('|'), allowed: allowed.join(' | '), parse: (text) => allowed.find((name) => name === text) };
}

/** A comma-separated list without repeats, at least one; the value is in the order of `allowed`. */
export function someOf<const T extends string>(...allowed: readonly T[]): Kind<readonly T[]> {
  return {
    value: 'LIST',
    allowed: `one or more of ${allowed.join(', ')}, separated by commas`,
    parse: (text) => {
      const named = text.split(',');
      const known = named.every((name) => allowed.some((one) => one === name));
      return known && new Set(named).size === named.length ? allowed.filter((one) => named.includes(one)) : undefined;
    },
  };
}

/** Any text but none. */
export function text(value: string, allowed: string): Kind<string> {
  return { value, allowed, parse: (given) => (given === '' ? undefined : given) };
}
