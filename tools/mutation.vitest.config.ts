/** What `npm run mutation` runs against each mutant: the tests of the unread rule, the codec and the summaries that need no store. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const conditions = ['@qim/source', 'node', 'development|production'];
const names = ['unread', 'codec', 'codec-random', 'summaries', 'facts', 'xxh32'];

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: { include: names.map((name) => `packages/store/tests/${name}.test.ts`), testTimeout: 20_000 },
});
