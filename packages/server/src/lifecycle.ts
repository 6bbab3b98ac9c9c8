/**
 * What was started is stopped in the reverse order, each part within its deadline, whatever the others do. So a start that
 * fails half-way leaves nothing open, and a stop that hangs ends.
 */
import type { Clock } from './clock.js';
import type { Log } from './log.js';

interface Step {
  readonly name: string;
  readonly deadlineMs: number;
  readonly release: () => Promise<void>;
}

export class Lifecycle {
  readonly #log: Log;
  readonly #sleep: Clock['sleep'];
  readonly #started: Step[] = [];
  #stopped: Promise<void> | undefined;

  constructor(log: Log, sleep: Clock['sleep']) {
    this.#log = log;
    this.#sleep = sleep;
  }

  get stopping(): boolean {
    return this.#stopped !== undefined;
  }

  /** To be called as soon as the part is open. A part with a deadline of its own is given some more time here. */
  started(name: string, deadlineMs: number, release: () => Promise<void>): void {
    this.#started.push({ name, deadlineMs, release });
  }

  /** Resolves when all parts are released or given up. Called again it waits for the same stop. Never rejects. */
  stop(): Promise<void> {
    this.#stopped ??= this.#releaseAll();
    return this.#stopped;
  }

  async #releaseAll(): Promise<void> {
    for (const step of this.#started.reverse()) {
      try {
        await this.#within(step.deadlineMs, step.release());
      } catch (error) {
        this.#log.error({ part: step.name, err: error }, 'a part did not stop cleanly');
      }
    }
  }

  async #within(deadlineMs: number, work: Promise<void>): Promise<void> {
    const done = new AbortController();
    const deadline = this.#sleep(deadlineMs, done.signal).then(() => {
      if (!done.signal.aborted) throw new Error(`not within ${deadlineMs} ms`);
    });
    try {
      await Promise.race([work, deadline]);
    } finally {
      done.abort();
    }
  }
}
