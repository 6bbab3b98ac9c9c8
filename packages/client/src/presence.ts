/** Who is online, of those that the server tells of: they share a conversation with the user. */
import { CLIENT_PRESENCE_MAX } from '@qim/proto';
import { Cell, type Observable } from './observable.js';

export class Presence {
  readonly #state = new Cell<ReadonlySet<string>>(new Set());

  get state(): Observable<ReadonlySet<string>> {
    return this.#state;
  }

  heard(userId: string, online: boolean): void {
    const before = this.#state.snapshot();
    if (before.has(userId) === online || (online && before.size >= CLIENT_PRESENCE_MAX)) return;
    const now = new Set(before);
    if (online) now.add(userId);
    else now.delete(userId);
    this.#state.set(now);
  }

  /** Without a link nobody is known to be online. */
  offline(): void {
    if (this.#state.snapshot().size > 0) this.#state.set(new Set());
  }
}
