import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedStore } from '@qim/store/embedded';
import { pushOverRealStore } from './scenarios.js';

pushOverRealStore('the embedded store', async () => {
  const data = await mkdtemp(join(tmpdir(), 'qim-push-'));
  const store = await openEmbeddedStore(data);
  return {
    store,
    location: { store: 'embedded', data },
    async close() {
      await store.close();
      await rm(data, { recursive: true, force: true });
    },
  };
});
