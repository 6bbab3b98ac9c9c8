import { openMemoryStore } from '../src/memory/open.js';
import {
  type BackendUnderTest,
  busConformance,
  directoryConformance,
  hooksConformance,
  messageStoreConformance,
  outboxConformance,
  ratesConformance,
  usersConformance,
} from '../src/testing/conformance/index.js';

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

messageStoreConformance(memory);
directoryConformance(memory);
usersConformance(memory);
busConformance(memory);
ratesConformance(memory);
outboxConformance(memory);
hooksConformance(memory);
