import { openMemoryStore } from '../src/memory/open.js';
import { type BackendUnderTest, conformance } from '../src/testing/conformance/index.js';

const memory: BackendUnderTest = {
  name: 'memory',
  async open() {
    let now = 1_700_000_000_000;
    const store = openMemoryStore({ now: () => now });
    return {
      store,
      advance(ms) {
        now += ms;
      },
      async skipSequences({ tenantId, conversationId }, count) {
        store.testing.skipSequences(tenantId, conversationId, count);
      },
      close: () => store.close(),
    };
  },
};

conformance(memory);
