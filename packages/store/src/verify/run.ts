/** The course of one verification: what it has counted, how fast it may go, and when it must end. */
import { EMBEDDED_READ_SLICE, FSCK_REST_RECORDS, FSCK_SCATTERED_WEIGHT, LIST_PAGE_SIZE_MAX } from '@qim/proto';
import { nextTurn } from '../clock.js';
import type { Finding } from './finding.js';
import type { VerifyCounts, VerifyOptions, VerifyProgress } from './options.js';

/** The signal ended it. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

export class Run {
  readonly options: VerifyOptions;
  readonly #rest: () => Promise<void>;
  readonly #startedAt: number;
  #sinceRest = 0;
  #conversations = 0;
  #users = 0;
  #records = 0;
  #findings = 0;
  #mended = 0;
  #left = 0;
  #sinceTurn = 0;
  #pass: VerifyProgress['pass'] = 'conversations';
  #done = 0;

  /** `rest`: what is done every FSCK_REST_RECORDS records, while nothing is read. */
  constructor(options: VerifyOptions, rest: () => Promise<void>) {
    this.options = options;
    this.#rest = rest;
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

  /** `scattered`: of the records those that were read one here and one there. @throws Interrupted */
  async took(records: number, scattered = 0): Promise<void> {
    this.#records += records;
    const { rate, clock, signal } = this.options;
    if (rate !== undefined) {
      const aheadMs = (this.#records / rate) * 1000 - (clock.monotonicNow() - this.#startedAt);
      if (aheadMs > 0) await clock.sleep(aheadMs, signal);
    }
    this.#sinceRest += records + scattered * FSCK_SCATTERED_WEIGHT;
    if (this.#sinceRest >= FSCK_REST_RECORDS) {
      this.#sinceRest = 0;
      await this.#rest();
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

  /** One page of a walk over all conversations or users. @throws Interrupted */
  async walked(done: number): Promise<void> {
    this.#done = done;
    this.#tell();
    await this.took(0, LIST_PAGE_SIZE_MAX);
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
