/** The course of one verification: what it has counted, how fast it may go, and when it must end. */
import { EMBEDDED_READ_SLICE } from '@qim/proto';
import { nextTurn } from '../clock.js';
import type { Finding } from './finding.js';
import type { VerifyCounts, VerifyOptions, VerifyProgress } from './options.js';

/** The signal ended it. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

export class Run {
  readonly options: VerifyOptions;
  readonly #startedAt: number;
  #conversations = 0;
  #users = 0;
  #records = 0;
  #findings = 0;
  #mended = 0;
  #left = 0;
  #sinceTurn = 0;
  #pass: VerifyProgress['pass'] = 'conversations';
  #done = 0;

  constructor(options: VerifyOptions) {
    this.options = options;
    this.#startedAt = options.clock.monotonicNow();
  }

  get counts(): VerifyCounts {
    return {
      conversations: this.#conversations,
      users: this.#users,
      records: this.#records,
      findings: this.#findings,
      mended: this.#mended,
      left: this.options.repair === 'yes' ? this.#left : this.#findings,
    };
  }

  /** @throws Interrupted */
  async took(records: number): Promise<void> {
    this.#records += records;
    const { rate, clock, signal } = this.options;
    if (rate !== undefined) {
      const aheadMs = (this.#records / rate) * 1000 - (clock.monotonicNow() - this.#startedAt);
      if (aheadMs > 0) await clock.sleep(aheadMs, signal);
    }
    this.#sinceTurn += records + 1;
    if (this.#sinceTurn >= EMBEDDED_READ_SLICE) {
      this.#sinceTurn = 0;
      this.#tell();
      await nextTurn();
    }
    if (signal.aborted) throw new Interrupted();
  }

  passes(pass: VerifyProgress['pass']): void {
    this.#pass = pass;
    this.#done = 0;
  }

  walked(done: number): void {
    this.#done = done;
    this.#tell();
  }

  conversation(): void {
    this.#conversations += 1;
  }

  user(): void {
    this.#users += 1;
  }

  found(finding: Finding): void {
    this.#findings += 1;
    this.options.report.found(finding);
  }

  mended(finding: Finding, did: string): void {
    if (this.options.repair === 'yes') this.#mended += 1;
    this.options.report.mended(finding, did);
  }

  left(finding: Finding, why: string): void {
    this.#left += 1;
    this.options.report.left(finding, why);
  }

  #tell(): void {
    this.options.report.progress({ pass: this.#pass, done: this.#done, counts: this.counts });
  }
}
