/** Random numbers that a seed makes again: for schedules of tests, and for nothing that must not be guessed. */

/** Seeds are integers 0..2^32-1. */
export const SEEDS = 2 ** 32;

export interface Random {
  /** An integer, 0 <= x < below. */
  below(below: number): number;
  /** One of them, each as likely as the others. @throws Error when there is none */
  pick<T>(choices: readonly T[]): T;
}

/** A counter through a mixing function (splitmix32): each seed its own sequence, and nearby seeds unlike ones. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
  const below = (limit: number): number => Math.floor((next() / SEEDS) * limit);
  return {
    below,
    pick: (choices) => {
      const index = below(choices.length);
      if (index >= choices.length) throw new Error('there is nothing to pick from');
      return choices[index] as (typeof choices)[number];
    },
  };
}
