import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defaultClientConditions, defineConfig } from 'vite';
import { emojiData } from './emoji-data.js';

/** Built from the sources of its neighbours: the page needs no other build first. */
export default defineConfig({
  plugins: [react(), tailwindcss(), emojiData()],
  resolve: { conditions: ['@qim/source', ...defaultClientConditions] },
  build: {
    outDir: 'dist',
    target: 'es2022',
    sourcemap: true,
    // Files, never data: URLs or inline scripts: the policy that the page is served under allows its own origin alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  // `npm run dev -w @qim/web` beside `qim serve --dev`.
  server: { proxy: { '/dev/login': 'http://127.0.0.1:7700', '/ws': { target: 'ws://127.0.0.1:7700', ws: true } } },
});
