/** How often each conversation may tell that somebody is writing: so many in one window of time, and then no more of it. */
import { TYPING_CONVERSATIONS_MAX, TYPING_PER_WINDOW_MAX, TYPING_WINDOW_MS } from '@qim/proto';

export class TypingRate {
  #windowStartedMs = 0;
  #told = new Map<string, number>();

  /** `now`: Unix milliseconds. False: it is too much. Conversations past TYPING_CONVERSATIONS_MAX in one window are, too. */
  admit(conversation: string, now: number): boolean {
    if (now - this.#windowStartedMs >= TYPING_WINDOW_MS || now < this.#windowStartedMs) {
      this.#windowStartedMs = now;
      this.#told = new Map();
    }
    const told = this.#told.get(conversation) ?? 0;
    if (told >= TYPING_PER_WINDOW_MAX || (told === 0 && this.#told.size >= TYPING_CONVERSATIONS_MAX)) return false;
    this.#told.set(conversation, told + 1);
    return true;
  }
}
