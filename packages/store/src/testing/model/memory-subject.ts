/** The reference model beside itself: what a check of the check runs on, with faults planted by the test. */
import { openMemoryStore } from '../../memory/open.js';
import type { Store } from '../../store.js';
import type { Subject } from './subject.js';

/** `plant` puts another store in its place. */
export function memorySubject(plant: (store: Store) => Store = (store) => store): Subject {
  let nowMs = Date.UTC(2026, 5, 1);
  const memory = openMemoryStore({ now: () => nowMs });
  return {
    name: 'memory',
    store: plant(memory),
    now: () => nowMs,
    advance(ms) {
      nowMs += ms;
    },
    async skipSequences({ tenantId, conversationId }, count) {
      memory.testing.skipSequences(tenantId, conversationId, count);
    },
    close: () => memory.close(),
  };
}
