/**
 * Who is online, of those that the server tells of: the others of the user's direct conversations. Whoever is not heard of again
 * for CLIENT_PRESENCE_SHOWN_MS is no longer: a server that died says nothing.
 */
import { CLIENT_PRESENCE_MAX, CLIENT_PRESENCE_SHOWN_MS } from '@qim/proto';
import type { Environment } from './environment.js';
import { Cell, type Observable } from './observable.js';

export class Presence {
  readonly #environment: Environment;
  readonly #state = new Cell<ReadonlySet<string>>(new Set());
  /** User -> ends the waiting for silence. */
  readonly #heard = new Map<string, () => void>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  get state(): Observable<ReadonlySet<string>> {
    return this.#state;
  }

  heard(userId: string, online: boolean): void {
    const before = this.#state.snapshot();
    if (online && !before.has(userId) && before.size >= CLIENT_PRESENCE_MAX) return;
    this.#heard.get(userId)?.();
    this.#heard.delete(userId);
    if (online)
      this.#heard.set(
        userId,
        this.#environment.schedule(CLIENT_PRESENCE_SHOWN_MS, () => this.heard(userId, false)),
      );
    if (before.has(userId) === online) return;
    const now = new Set(before);
    if (online) now.add(userId);
    else now.delete(userId);
    this.#state.set(now);
  }

  /** Without a link nobody is known to be online. */
  offline(): void {
    for (const forget of this.#heard.values()) forget();
    this.#heard.clear();
    if (this.#state.snapshot().size > 0) this.#state.set(new Set());
  }
}
