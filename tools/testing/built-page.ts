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
  // A test runner calls itself another environment, and React would be built for development.
  const environment = process.env.NODE_ENV;
  process.env.NODE_ENV = 'production';
  await build({ root, logLevel: 'error', build: { outDir: folder, emptyOutDir: true } });
  if (environment === undefined) delete process.env.NODE_ENV;
  else process.env.NODE_ENV = environment;
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
