/** The embedded store in a temporary folder. Its restart is a close and an open: what a flush is worth, the e2e tests show. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { skipSequencesEmbedded } from '../../embedded/damage.js';
import { openEmbeddedStore } from '../../embedded/open.js';
import type { Subject } from './subject.js';

/** In memory where there is such a thing: a flush costs nothing there. */
const BASE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

export async function embeddedSubject(): Promise<Subject> {
  const folder = mkdtempSync(join(BASE, 'qim-model-'));
  let nowMs = Date.UTC(2026, 5, 1);
  const open = () => openEmbeddedStore(folder, { now: () => nowMs });
  let store = await open();
  return {
    name: 'embedded',
    get store() {
      return store;
    },
    now: () => nowMs,
    advance(ms) {
      nowMs += ms;
    },
    skipSequences: (target, count) => skipSequencesEmbedded(folder, target, count),
    async restart(meanwhile) {
      const ended = meanwhile().catch(() => {});
      await store.close();
      await ended;
      store = await open();
    },
    async close() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
