import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedStore } from '@qim/store/embedded';
import { DAMAGE_KINDS, type DamageKind, REDIS_ONLY_DAMAGE_KINDS } from '@qim/store/testing';
import { sessionOverRealStore } from './scenarios.js';

const redisOnly: readonly DamageKind[] = REDIS_ONLY_DAMAGE_KINDS;

sessionOverRealStore(
  'the embedded store',
  DAMAGE_KINDS.filter((kind) => !redisOnly.includes(kind)),
  async () => {
    const data = await mkdtemp(join(tmpdir(), 'qim-session-'));
    const store = await openEmbeddedStore(data);
    return {
      store,
      location: { store: 'embedded', data },
      async close() {
        await store.close();
        await rm(data, { recursive: true, force: true });
      },
    };
  },
);
