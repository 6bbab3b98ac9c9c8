import { defineConfig } from 'vitest/config';

const conditions = ['@qim/source', 'module', 'node', 'development|production'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['packages/*/tests/**/*.test.ts', 'acceptance/tests/**/*.test.ts', 'tools/tests/**/*.test.ts'],
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
});
