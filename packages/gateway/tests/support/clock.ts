/** Time that moves when the test says so. */
export class ManualClock {
  #nowMs: number;
  readonly #waiting = new Set<{ readonly atMs: number; readonly action: () => void }>();

  constructor(nowMs = 1_800_000_000_000) {
    this.#nowMs = nowMs;
  }

  readonly now = (): number => this.#nowMs;

  readonly after = (ms: number, action: () => void): (() => void) => {
    if (ms > 2 ** 31 - 1) throw new Error('Node would fire this timer at once');
    const entry = { atMs: this.#nowMs + ms, action };
    this.#waiting.add(entry);
    return () => this.#waiting.delete(entry);
  };

  /** How many timers wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Time passes, and every timer is late. */
  jump(ms: number): void {
    this.#nowMs += ms;
  }

  /** Fires what is due on the way, in order. */
  advance(ms: number): void {
    const target = this.#nowMs + ms;
    for (;;) {
      const [next] = [...this.#waiting].filter(({ atMs }) => atMs <= target).sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) break;
      this.#waiting.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.action();
    }
    this.#nowMs = target;
  }
}
