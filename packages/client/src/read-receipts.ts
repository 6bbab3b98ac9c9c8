/**
 * How far others have read in one open conversation: what the server says of it once somebody watches, and again after each
 * welcome; and what events tell since. A mark only ever rises, so that the two may come in any order.
 */
import { CLIENT_READ_MARKS_MAX } from '@qim/proto';
import type { ConversationApi } from './api/conversation-api.js';
import { isQimClientError, isWithoutLink } from './errors.js';
import { type Observable, WatchedCell } from './observable.js';

export type ReadMarks = ReadonlyMap<string, number>;

export interface ReadReceiptsOptions {
  readonly conversationId: string;
  readonly api: Pick<ConversationApi, 'readMarks'>;
  /** False: the conversation is known to have no read receipts, and nothing is asked. */
  readonly told: () => boolean;
}

export class ReadReceipts implements Observable<ReadMarks> {
  readonly #options: ReadReceiptsOptions;
  readonly #state: WatchedCell<ReadMarks>;
  /** Marks may have risen while nobody told. */
  #stale = true;
  #running = false;
  #closed = false;

  constructor(options: ReadReceiptsOptions) {
    this.#options = options;
    this.#state = new WatchedCell<ReadMarks>(new Map(), () => this.start());
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#state.subscribe(listener);
  readonly snapshot = (): ReadMarks => this.#state.snapshot();

  /** Told by an event. */
  heard(userId: string, seq: number): void {
    this.#raise([[userId, seq]]);
  }

  /** Events may have been lost, or the setting be another. */
  touch(): void {
    this.#stale = true;
    this.start();
  }

  /** Reads them if they have to be and can be. */
  start(): void {
    if (this.#stale && this.#state.watched && !this.#running && !this.#closed && this.#options.told()) void this.#run();
  }

  close(): void {
    this.#closed = true;
  }

  async #run(): Promise<void> {
    const { api, conversationId } = this.#options;
    this.#running = true;
    try {
      while (this.#stale && !this.#closed) {
        this.#stale = false;
        this.#raise(await api.readMarks(conversationId));
      }
    } catch (error) {
      // The next welcome asks again; what else is wrong, the messages of the conversation say.
      this.#stale = isQimClientError(error) && isWithoutLink(error);
    } finally {
      this.#running = false;
    }
  }

  #raise(told: Iterable<readonly [userId: string, seq: number]>): void {
    const before = this.snapshot();
    let raised: Map<string, number> | undefined;
    for (const [userId, seq] of told) {
      const marks = raised ?? before;
      if ((marks.get(userId) ?? 0) >= seq || (!marks.has(userId) && marks.size >= CLIENT_READ_MARKS_MAX)) continue;
      raised ??= new Map(before);
      raised.set(userId, seq);
    }
    if (raised !== undefined) this.#state.set(raised);
  }
}
