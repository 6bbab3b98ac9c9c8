/** Something that takes what anybody may send, and what must hold whatever it is. */
import type fc from 'fast-check';

export interface Target<Input = unknown> {
  readonly name: string;
  /** Of all inputs of a run, this part; parts are compared with each other. */
  readonly weight: number;
  readonly input: fc.Arbitrary<Input>;
  /** Throws when it does not hold. */
  readonly holds: (input: Input) => void | Promise<void>;
}

/** So that targets of several kinds of input can stand in one list. */
export function target<Input>(given: Target<Input>): Target {
  return given as Target;
}

export class DoesNotHold extends Error {
  override readonly name = 'DoesNotHold';
}

export function must(condition: boolean, what: string): asserts condition {
  if (!condition) throw new DoesNotHold(what);
}
