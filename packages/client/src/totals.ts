/** The user's totals, for a badge: read from the server while somebody watches, and again a moment after what may change them. */
import { TOTALS_DELAY_MS } from '@qim/proto';
import type { SessionApi } from './api/session-api.js';
import type { Environment } from './environment.js';
import { asClientError, isWithoutLink, type QimClientError } from './errors.js';
import { type Observable, WatchedCell } from './observable.js';
import type { Totals } from './types.js';

export interface TotalsState {
  /** loading: nothing was read yet. error: reading failed, and what was read before is still there. */
  readonly status: 'loading' | 'ready' | 'error';
  readonly error: QimClientError | undefined;
  /** Undefined: not known. Never 0 for want of knowledge. */
  readonly totals: Totals | undefined;
}

export interface TotalsOptions {
  readonly api: Pick<SessionApi, 'getTotals'>;
  readonly environment: Environment;
}

export class TotalsReader {
  readonly #options: TotalsOptions;
  readonly #state: WatchedCell<TotalsState>;
  #stale = true;
  #running = false;
  #cancelTimer: (() => void) | undefined;
  #closed = false;

  constructor(options: TotalsOptions) {
    this.#options = options;
    this.#state = new WatchedCell<TotalsState>({ status: 'loading', error: undefined, totals: undefined }, () => this.#soon(0));
  }

  get state(): Observable<TotalsState> {
    return this.#state;
  }

  /** They may have changed. */
  touch(): void {
    this.#stale = true;
    this.#soon(TOTALS_DELAY_MS);
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer?.();
  }

  #soon(ms: number): void {
    if (!this.#stale || !this.#state.watched || this.#running || this.#closed) return;
    this.#cancelTimer ??= this.#options.environment.schedule(ms, () => {
      this.#cancelTimer = undefined;
      void this.#read();
    });
  }

  async #read(): Promise<void> {
    this.#running = true;
    this.#stale = false;
    try {
      const totals = await this.#options.api.getTotals();
      this.#state.set({ status: 'ready', error: undefined, totals });
    } catch (error) {
      const known = asClientError(error, 'reading the totals');
      // The next welcome asks again.
      if (!this.#closed && !isWithoutLink(known)) this.#state.set({ ...this.#state.snapshot(), status: 'error', error: known });
    }
    this.#running = false;
    this.#soon(TOTALS_DELAY_MS);
  }
}
