/**
 * Read marks on their way: the greatest asked for in each conversation, one call for many, kept until the link is back.
 *
 * A message of one's own is read when everything before it is, or else 201 of them would look like '200+' unread.
 */
import { MARK_READ_DELAY_MS, READ_MARKS_WAITING_MAX } from '@qim/proto';
import type { SessionApi } from './api/session-api.js';
import type { Environment } from './environment.js';
import { isQimClientError, mayPass } from './errors.js';

export interface ReadMarkerOptions {
  readonly api: Pick<SessionApi, 'markRead'>;
  readonly environment: Environment;
  /** What the list holds; undefined: nothing. */
  readonly heldMark: (conversationId: string) => number | undefined;
  readonly marked: (conversationId: string) => void;
}

export class ReadMarker {
  readonly #options: ReadMarkerOptions;
  readonly #asked = new Map<string, number>();
  /** What was marked last, for as long as the list may not have heard of it. */
  readonly #done = new Map<string, number>();
  #cancelTimer: (() => void) | undefined;
  #sentAtMs = Number.NEGATIVE_INFINITY;
  #running = false;
  #closed = false;

  constructor(options: ReadMarkerOptions) {
    this.#options = options;
  }

  /** Marks what was shown; a lower one than before, or than the list's, asks nothing. */
  shown(conversationId: string, seq: number): void {
    if (this.#closed || seq <= (this.#options.heldMark(conversationId) ?? 0) || seq <= (this.#asked.get(conversationId) ?? 0)) return;
    if (this.#asked.size >= READ_MARKS_WAITING_MAX && !this.#asked.has(conversationId)) return;
    this.#asked.set(conversationId, seq);
    this.#soon();
  }

  /** An acknowledged message of one's own. `before`: the sequence before it; undefined when that is not known. */
  sent(conversationId: string, seq: number, before: number | undefined): void {
    const read = Math.max(
      this.#options.heldMark(conversationId) ?? 0,
      this.#done.get(conversationId) ?? 0,
      this.#asked.get(conversationId) ?? 0,
    );
    if (seq === read + 1 || (before !== undefined && before <= read)) this.shown(conversationId, seq);
  }

  /** The link is back. */
  flush(): void {
    this.#soon();
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer?.();
    this.#asked.clear();
  }

  #soon(): void {
    if (this.#closed || this.#running || this.#asked.size === 0) return;
    const { environment } = this.#options;
    // The first of a while goes at once, so that no badge lights up for what is being looked at.
    const pause = Math.max(0, this.#sentAtMs + MARK_READ_DELAY_MS - environment.now());
    this.#cancelTimer ??= environment.schedule(pause, () => {
      this.#cancelTimer = undefined;
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    this.#sentAtMs = this.#options.environment.now();
    const kept = await Promise.all([...this.#asked].map(([conversationId, seq]) => this.#send(conversationId, seq)));
    this.#running = false;
    // One that could not be sent waits for `flush`; what came meanwhile goes now.
    if (!kept.includes('kept')) this.#soon();
  }

  async #send(conversationId: string, seq: number): Promise<'done' | 'kept'> {
    const { api, marked } = this.#options;
    try {
      const held = await api.markRead(conversationId, seq);
      this.#done.delete(conversationId);
      this.#done.set(conversationId, held);
      if (this.#done.size > READ_MARKS_WAITING_MAX) this.#done.delete(this.#done.keys().next().value ?? '');
      marked(conversationId);
    } catch (error) {
      if (isQimClientError(error) && mayPass(error)) return 'kept';
    }
    if (this.#asked.get(conversationId) === seq) this.#asked.delete(conversationId);
    return 'done';
  }
}
