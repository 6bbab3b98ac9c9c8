/** The embedded store in a temporary folder, as the suites and the embedded tests open it. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { damageEmbedded, skipSequencesEmbedded } from '../src/embedded/damage.js';
import { type EmbeddedStoreOptions, openEmbeddedStore } from '../src/embedded/open.js';
import type { Store } from '../src/store.js';
import type { OpenedBackend } from '../src/testing/conformance/backend.js';
import { DAMAGE_KINDS, type DamageKind, REDIS_ONLY_DAMAGE_KINDS } from '../src/testing/damage-kinds.js';

const redisOnly: readonly DamageKind[] = REDIS_ONLY_DAMAGE_KINDS;
export const EMBEDDED_DAMAGE_KINDS = DAMAGE_KINDS.filter((kind) => !redisOnly.includes(kind));

/** In memory where there is such a thing: a flush costs nothing there, and what a flush is worth is proved by the e2e tests. */
const BASE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
/** A Monday in 2026. */
const START_MS = Date.UTC(2026, 5, 1);

export class EmbeddedBackend implements OpenedBackend {
  readonly folder: string;
  readonly #options: EmbeddedStoreOptions;
  #nowMs = START_MS;
  #store: Store | undefined;

  private constructor(options: EmbeddedStoreOptions) {
    this.folder = mkdtempSync(join(BASE, 'qim-embedded-'));
    this.#options = options;
  }

  static async open(options: EmbeddedStoreOptions = {}): Promise<EmbeddedBackend> {
    const backend = new EmbeddedBackend(options);
    await backend.#open();
    return backend;
  }

  async #open(): Promise<void> {
    this.#store = await openEmbeddedStore(this.folder, { now: () => this.#nowMs, ...this.#options });
  }

  get store(): Store {
    if (this.#store === undefined) throw new Error('the store is closed');
    return this.#store;
  }

  /** Moves the store's clock, also back. */
  advance(ms: number): void {
    this.#nowMs += ms;
  }

  skipSequences: OpenedBackend['skipSequences'] = (target, count) => skipSequencesEmbedded(this.folder, target, count);

  damage: NonNullable<OpenedBackend['damage']> = (target, kind) => damageEmbedded(this.folder, target, kind);

  async reopen(): Promise<void> {
    await this.store.close();
    await this.#open();
  }

  async close(): Promise<void> {
    await this.#store?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
