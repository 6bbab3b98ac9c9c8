/** What a run yields: the JSON, the tables and the curves are made of nothing else. */
import type { AreaName } from './goals.js';
import type { Spread } from './measure.js';

/** One measured value: of one contender in one case. */
export interface Row extends Spread {
  readonly area: AreaName;
  /** What was done, such as 'page 100x20'. */
  readonly subject: string;
  /** By whom, such as 'qim on Redis'. */
  readonly contender: string;
  readonly unit: Unit;
}

/** Of rates more is better, of all else less; bytes and kB are sizes. */
export type Unit = 'ms' | 'us' | 'per second' | 'bytes' | 'kB' | 's' | '%' | 'times';

export interface Curve {
  readonly name: string;
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly series: readonly { readonly name: string; readonly points: readonly (readonly [x: number, y: number])[] }[];
}

/** Where the time of one operation goes. */
export interface Parts {
  readonly area: AreaName;
  /** Such as 'one page of 100x20'. */
  readonly of: string;
  /** Microseconds of one thread for one operation, by part, the largest first. */
  readonly parts: readonly { readonly part: string; readonly us: number }[];
}

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGB: number;
  readonly system: string;
  readonly node: string;
  readonly redis: string;
  readonly postgres: string;
  /** One-minute load before anything was started; above 0.5 the absolute values are worth little. */
  readonly loadBefore: number;
}

export interface Result {
  readonly form: 1;
  readonly quick: boolean;
  readonly startedAt: string;
  readonly seconds: number;
  readonly machine: Machine;
  readonly ratios: Readonly<Record<string, number>>;
  readonly rows: readonly Row[];
  readonly curves: readonly Curve[];
  readonly parts: readonly Parts[];
  /** What could not be measured, and why. */
  readonly missing: readonly string[];
}

/** Collects while the areas run. */
export class Results {
  readonly ratios: Record<string, number> = {};
  readonly rows: Row[] = [];
  readonly curves: Curve[] = [];
  readonly parts: Parts[] = [];
  readonly missing: string[] = [];

  row(area: AreaName, subject: string, contender: string, unit: Unit, spread: Spread): void {
    this.rows.push({ area, subject, contender, unit, ...spread });
  }

  /** Of one value that was taken once. */
  value(area: AreaName, subject: string, contender: string, unit: Unit, value: number): void {
    this.row(area, subject, contender, unit, { median: value, low: value, high: value, samples: 1 });
  }
}
