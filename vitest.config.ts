/**
 * Four projects by what a test needs, told by its file's name:
 *   fast   `.test.ts(x)`        nothing but Node; what `npm run test:fast` runs
 *   disk   `embedded*.test.ts`, `verify-*`, `damage-matrix*`, `cases`
 *                               the embedded store: Node alone as well, but each commit waits for the disk
 *   redis  `.redis.test.ts(x)`  a real redis-server, which the test starts
 *   e2e    `.e2e.test.ts(x)`    processes, a browser, or what was built
 */
import { defineConfig } from 'vitest/config';

// With @qim/source every workspace package resolves to its sources: no test but an e2e one needs a build.
const conditions = ['@qim/source', 'node', 'development|production'];
const roots = ['packages/*/tests', 'acceptance/tests', 'bench/tests', 'tools/tests'];
const named = (name: string): string[] => roots.map((root) => `${root}/**/${name}.{ts,tsx}`);

const redis = [...named('*.redis.test'), 'packages/store/tests/redis-message-store.test.ts'];
const e2e = named('*.e2e.test');
const disk = ['embedded*.test', 'verify-*.test', 'damage-matrix*.test', 'cases.test'].flatMap(named);

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    pool: 'forks',
    // Without it one core would be left idle.
    maxWorkers: '100%',
    // Against what hangs, and never against what is slow: a busy machine fails no test.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    passWithNoTests: false,
    projects: [
      // Files of one worker share their modules: loading them anew for each file takes longer than the tests.
      {
        extends: true,
        test: { name: 'fast', include: named('*.test'), exclude: [...redis, ...e2e, ...disk], isolate: false, sequence: { groupOrder: 0 } },
      },
      { extends: true, test: { name: 'disk', include: disk, exclude: [...redis, ...e2e], sequence: { groupOrder: 1 } } },
      { extends: true, test: { name: 'redis', include: redis, sequence: { groupOrder: 2 } } },
      // One file at a time: each starts servers and browsers of its own, and two cores are all that CI has.
      { extends: true, test: { name: 'e2e', include: e2e, testTimeout: 300_000, maxWorkers: 1, sequence: { groupOrder: 3 } } },
    ],
  },
});
