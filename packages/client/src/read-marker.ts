/**
 * Read marks on their way: the greatest asked for in each conversation, one call for many, kept until the link is back.
 *
 * A message of one's own is read when everything before it is, or else 201 of them would look like '200+' unread. Nobody
 * waits for that mark, so those of a while go as one.
 *
 * What waits is kept for the next start, too. A mark only rises, so that one may be sent twice, and late.
 */
import { MARK_OWN_DELAY_MS, MARK_OWN_WAITING_MAX, MARK_READ_DELAY_MS, READ_MARKS_WAITING_MAX } from '@qim/proto';
import type { SessionApi } from './api/session-api.js';
import type { Environment } from './environment.js';
import { isOfThisLink, isQimClientError, mayPass } from './errors.js';

export interface ReadMarkerOptions {
  readonly api: Pick<SessionApi, 'markRead'>;
  readonly environment: Environment;
  /** What the list holds; undefined: nothing. */
  readonly heldMark: (conversationId: string) => number | undefined;
  /** What holds now. */
  readonly marked: (conversationId: string, seq: number) => void;
  /** What waits is another. */
  readonly changed: () => void;
}

export class ReadMarker {
  readonly #options: ReadMarkerOptions;
  readonly #asked = new Map<string, number>();
  /** What was marked last, for as long as the list may not have heard of it. */
  readonly #done = new Map<string, number>();
  #timer: { readonly dueAtMs: number; readonly cancel: () => void } | undefined;
  #sentAtMs = Number.NEGATIVE_INFINITY;
  #running = false;
  #closed = false;

  constructor(options: ReadMarkerOptions) {
    this.#options = options;
  }

  /** Marks what was shown; a lower one than before, or than the list's, asks nothing. */
  shown(conversationId: string, seq: number): void {
    this.#ask(conversationId, seq, 0);
  }

  #ask(conversationId: string, seq: number, delayMs: number): void {
    if (this.#closed || seq <= (this.#options.heldMark(conversationId) ?? 0) || seq <= (this.#asked.get(conversationId) ?? 0)) return;
    if (this.#asked.size >= READ_MARKS_WAITING_MAX && !this.#asked.has(conversationId)) return;
    this.#asked.set(conversationId, seq);
    this.#options.changed();
    this.#soon(delayMs);
  }

  /** Conversation -> sequence, of what the server has not answered yet; at most READ_MARKS_WAITING_MAX. */
  get waiting(): ReadonlyMap<string, number> {
    return this.#asked;
  }

  /** What an earlier start, or a tab that has ended, did not get to send. */
  adopt(marks: ReadonlyMap<string, number>): void {
    for (const [conversationId, seq] of marks) this.shown(conversationId, seq);
  }

  /** An acknowledged message of one's own. `before`: the sequence before it; undefined when that is not known. */
  sent(conversationId: string, seq: number, before: number | undefined): void {
    const holds = Math.max(this.#options.heldMark(conversationId) ?? 0, this.#done.get(conversationId) ?? 0);
    const read = Math.max(holds, this.#asked.get(conversationId) ?? 0);
    if (seq !== read + 1 && (before === undefined || before > read)) return;
    this.#ask(conversationId, seq, seq - holds < MARK_OWN_WAITING_MAX ? MARK_OWN_DELAY_MS : 0);
  }

  /** Whether this mark is one of this client's: its answer is what has the list read again. */
  isOwn(conversationId: string, seq: number): boolean {
    return seq <= Math.max(this.#asked.get(conversationId) ?? 0, this.#done.get(conversationId) ?? 0);
  }

  /** The link is back. */
  flush(): void {
    this.#soon(0);
  }

  /** What waits goes now, and nothing after it; while the link is still there. */
  close(): void {
    if (this.#closed) return;
    this.#timer?.cancel();
    if (!this.#running && this.#asked.size > 0) void this.#run();
    // What it has is still told as waiting, so that it is kept.
    this.#closed = true;
  }

  #soon(delayMs: number): void {
    if (this.#closed || this.#running || this.#asked.size === 0) return;
    const { environment } = this.#options;
    const now = environment.now();
    // The first of a while goes at once, so that no badge lights up for what is being looked at.
    const dueAtMs = Math.max(now + delayMs, this.#sentAtMs + MARK_READ_DELAY_MS);
    if (this.#timer !== undefined && this.#timer.dueAtMs <= dueAtMs) return;
    this.#timer?.cancel();
    const cancel = environment.schedule(Math.max(0, dueAtMs - now), () => {
      this.#timer = undefined;
      void this.#run();
    });
    this.#timer = { dueAtMs, cancel };
  }

  async #run(): Promise<void> {
    this.#running = true;
    this.#sentAtMs = this.#options.environment.now();
    const kept = await Promise.all([...this.#asked].map(([conversationId, seq]) => this.#send(conversationId, seq)));
    this.#running = false;
    // One that could not be sent waits for `flush`; what came meanwhile goes now.
    if (!kept.includes('kept')) this.#soon(0);
  }

  async #send(conversationId: string, seq: number): Promise<'done' | 'kept'> {
    const { api, marked } = this.#options;
    try {
      const held = await api.markRead(conversationId, seq);
      this.#done.delete(conversationId);
      this.#done.set(conversationId, held);
      if (this.#done.size > READ_MARKS_WAITING_MAX) this.#done.delete(this.#done.keys().next().value ?? '');
      marked(conversationId, held);
    } catch (error) {
      if (isQimClientError(error) && (mayPass(error) || isOfThisLink(error))) return 'kept';
    }
    if (this.#asked.get(conversationId) === seq) {
      this.#asked.delete(conversationId);
      this.#options.changed();
    }
    return 'done';
  }
}
