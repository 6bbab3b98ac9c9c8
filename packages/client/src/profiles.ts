/** Names and pictures, each asked for once, together with others of the same moment, and again after each welcome. */
import { CLIENT_PROFILES_MAX, PROFILES_DELAY_MS, PROFILES_PER_CALL_MAX } from '@qim/proto';
import type { PeopleApi } from './api/people-api.js';
import type { Environment } from './environment.js';
import { type Observable, WatchedCell } from './observable.js';
import type { Profile } from './types.js';

export interface ProfilesView {
  /** Undefined until it is known. The same observable each time, and read from the server once somebody watches it. */
  readonly of: (userId: string) => Observable<Profile | undefined>;
}

export interface ProfilesOptions {
  readonly api: Pick<PeopleApi, 'getProfiles'>;
  readonly environment: Environment;
}

type ProfileCell = WatchedCell<Profile | undefined>;

export class Profiles implements ProfilesView {
  readonly #options: ProfilesOptions;
  readonly #held = new Map<string, ProfileCell>();
  readonly #known = new Set<string>();
  readonly #wanted = new Set<string>();
  #cancelTimer: (() => void) | undefined;
  #closed = false;

  constructor(options: ProfilesOptions) {
    this.#options = options;
  }

  readonly of = (userId: string): Observable<Profile | undefined> => {
    const held = this.#held.get(userId);
    if (held !== undefined) return held;
    if (this.#held.size >= CLIENT_PROFILES_MAX) this.#makeRoom();
    const made: ProfileCell = new WatchedCell<Profile | undefined>(undefined, () => this.#want(userId));
    this.#held.set(userId, made);
    return made;
  };

  /** The user's own, just set; or any that an answer brought. */
  learnt(profile: Profile): void {
    this.#known.add(profile.userId);
    this.#held.get(profile.userId)?.set(profile);
  }

  /** They may have changed while nobody listened. */
  resync(): void {
    this.#known.clear();
    for (const [userId, cell] of this.#held) if (cell.watched) this.#want(userId);
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer?.();
  }

  #want(userId: string): void {
    if (this.#known.has(userId) || this.#closed) return;
    this.#wanted.add(userId);
    this.#cancelTimer ??= this.#options.environment.schedule(PROFILES_DELAY_MS, () => {
      this.#cancelTimer = undefined;
      void this.#read();
    });
  }

  async #read(): Promise<void> {
    const wanted = [...this.#wanted];
    this.#wanted.clear();
    for (let from = 0; from < wanted.length && !this.#closed; from += PROFILES_PER_CALL_MAX) {
      try {
        const asked = wanted.slice(from, from + PROFILES_PER_CALL_MAX);
        for (const profile of await this.#options.api.getProfiles(asked)) this.learnt(profile);
        for (const userId of asked) this.#known.add(userId);
      } catch {
        // Shown by their ids; the next welcome asks again.
      }
    }
  }

  /** The one that was asked for longest ago and is not watched. */
  #makeRoom(): void {
    for (const [userId, cell] of this.#held) {
      if (cell.watched) continue;
      this.#held.delete(userId);
      this.#known.delete(userId);
      return;
    }
  }
}
