/**
 * Contenders take turns, in the opposite order every other round, so that a busy neighbour hits all of them. A ratio is the
 * median of the rounds' own ratios: what slowed a whole round down is in both of its terms.
 */
export interface Spread {
  readonly median: number;
  /** First and third quartile. */
  readonly low: number;
  readonly high: number;
  readonly samples: number;
}

export interface Contender {
  readonly name: string;
  /** One turn; the value that it measured. */
  readonly turn: () => Promise<number>;
}

export type Samples = ReadonlyMap<string, readonly number[]>;

/** One value of each contender for each round. The first round warms up and is left out. */
export async function interleaved(contenders: readonly Contender[], rounds: number): Promise<Samples> {
  const samples = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, turn } of round % 2 === 0 ? contenders : contenders.toReversed()) {
      const value = await turn();
      if (round > 0) samples.get(name)?.push(value);
    }
  }
  return samples;
}

/** A turn that does `work` again and again for at least `forMs`, and measures the milliseconds of one. */
export function timesOf(work: () => Promise<unknown>, forMs: number): () => Promise<number> {
  return async () => {
    const times: number[] = [];
    const end = performance.now() + forMs;
    for (let before = performance.now(); before < end; ) {
      await work();
      const after = performance.now();
      times.push(after - before);
      before = after;
    }
    return quantile(times, 0.5);
  };
}

const CPU_TIMES = 12;
const CPU_WORK = 5;

/** Microseconds that this process is on the CPU for one `work`; how busy the machine is with others matters less to it. */
export async function cpuOf(work: () => Promise<unknown>): Promise<Spread> {
  const samples: number[] = [];
  for (let time = 0; time < CPU_TIMES; time += 1) {
    const before = process.cpuUsage();
    for (let i = 0; i < CPU_WORK; i += 1) await work();
    const { user, system } = process.cpuUsage(before);
    samples.push((user + system) / CPU_WORK);
  }
  return spreadOf(samples);
}

export function spreadOf(samples: readonly number[]): Spread {
  return { median: quantile(samples, 0.5), low: quantile(samples, 0.25), high: quantile(samples, 0.75), samples: samples.length };
}

/** 0 <= q <= 1; NaN of nothing. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const [low = Number.NaN, high = low] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return low + (high - low) * (at - Math.floor(at));
}

/** Median over the rounds of `above` divided by `below`. */
export function ratioOf(samples: Samples, above: string, below: string): number {
  const [over = [], under = []] = [samples.get(above), samples.get(below)];
  return quantile(
    over.flatMap((value, round) => (under[round] === undefined ? [] : value / under[round])),
    0.5,
  );
}
