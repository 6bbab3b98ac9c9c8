/** The page, built afresh from its sources: what a test sees is never an older build. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

export interface BuiltPage {
  readonly folder: string;
  readonly remove: () => Promise<void>;
}

export async function buildPage(): Promise<BuiltPage> {
  const root = fileURLToPath(new URL('../../packages/web', import.meta.url));
  const folder = await mkdtemp(join(tmpdir(), 'qim-page-'));
  await build({ root, logLevel: 'error', build: { outDir: folder, emptyOutDir: true } });
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
