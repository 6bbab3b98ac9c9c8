/**
 * Who is writing. Nothing is stored anywhere: who is not heard of again has stopped, and so has everybody when the link is
 * lost. Failing to tell the others is nobody's trouble.
 */
import { CLIENT_TYPING_MAX, TYPING_REPEAT_MS, TYPING_SHOWN_MS } from '@qim/proto';
import type { PeopleApi } from './api/people-api.js';
import type { Environment } from './environment.js';
import { Cell, type Observable } from './observable.js';

/** Conversation -> those who write in it, in the order in which they began; never oneself. */
export type TypingState = ReadonlyMap<string, readonly string[]>;

export interface TypingOptions {
  readonly api: Pick<PeopleApi, 'setTyping'>;
  readonly environment: Environment;
}

export class Typing {
  readonly #options: TypingOptions;
  readonly #state = new Cell<TypingState>(new Map());
  /** Conversation and user -> ends the waiting for silence. */
  readonly #heard = new Map<string, () => void>();
  /** Conversation -> when the others were told last. */
  readonly #toldAtMs = new Map<string, number>();

  constructor(options: TypingOptions) {
    this.#options = options;
  }

  get state(): Observable<TypingState> {
    return this.#state;
  }

  /** Told of each keystroke, it tells the others now and then; `false` when what was written is gone. */
  set(conversationId: string, on: boolean): void {
    const { api, environment } = this.#options;
    const toldAtMs = this.#toldAtMs.get(conversationId);
    const now = environment.now();
    if (on ? toldAtMs !== undefined && now - toldAtMs < TYPING_REPEAT_MS : toldAtMs === undefined) return;
    this.#toldAtMs.delete(conversationId);
    if (on) this.#toldAtMs.set(conversationId, now);
    // Conversations that are not written in any more need no memory.
    if (this.#toldAtMs.size > CLIENT_TYPING_MAX) this.#toldAtMs.delete(this.#toldAtMs.keys().next().value ?? '');
    api.setTyping(conversationId, on).catch(() => {});
  }

  /** What was written was sent: the message itself tells the others. */
  sent(conversationId: string): void {
    this.#toldAtMs.delete(conversationId);
  }

  heard(conversationId: string, userId: string, on: boolean): void {
    const key = `${conversationId} ${userId}`;
    const forget = this.#heard.get(key);
    if (on && forget === undefined && this.#heard.size >= CLIENT_TYPING_MAX) return;
    forget?.();
    this.#heard.delete(key);
    if (on)
      this.#heard.set(
        key,
        this.#options.environment.schedule(TYPING_SHOWN_MS, () => this.heard(conversationId, userId, false)),
      );
    this.#show(conversationId, userId, on);
  }

  offline(): void {
    for (const forget of this.#heard.values()) forget();
    this.#heard.clear();
    this.#toldAtMs.clear();
    if (this.#state.snapshot().size > 0) this.#state.set(new Map());
  }

  #show(conversationId: string, userId: string, on: boolean): void {
    const state = this.#state.snapshot();
    const before = state.get(conversationId) ?? [];
    if (before.includes(userId) === on) return;
    const now = on ? [...before, userId] : before.filter((id) => id !== userId);
    const next = new Map(state);
    if (now.length === 0) next.delete(conversationId);
    else next.set(conversationId, now);
    this.#state.set(next);
  }
}
