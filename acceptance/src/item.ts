import type { Stage } from './stage.js';

/** One line of acceptance.md. */
export interface Item {
  /** 1..15; 13 has two parts. */
  readonly number: string;
  readonly name: string;
  /** What must hold, in one sentence. */
  readonly shows: string;
  /** What it waits for, where it is not built yet; such an item is run none the less where it can be, and shown as failing. */
  readonly waitsFor?: string | undefined;
  /** Throws when it does not hold. */
  run(stage: Stage): Promise<void>;
}
