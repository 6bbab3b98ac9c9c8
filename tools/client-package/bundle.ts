/**
 * The SDK as it is published: one file for each entry and one of what both need, with all of it inside, so that a plain
 * `npm install` of the tarball asks for nothing else. React stays outside, and is only wanted by the hooks.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, defaultClientConditions, type Rolldown } from 'vite';

export const CLIENT = 'packages/client';
export const OUT = `${CLIENT}/dist/package`;

/** Entry -> its source, below packages/client/src. */
export const ENTRIES = { index: 'index.ts', react: 'react/index.ts' } as const;

export interface Bundle {
  /** File name -> its text. */
  readonly files: ReadonlyMap<string, string>;
  /** Folders of npm packages whose code is inside: their licences would have to be too. */
  readonly inside: readonly string[];
}

export interface BundleOptions {
  /** Modules to leave out, to see what they weigh. */
  readonly without?: RegExp | undefined;
  readonly root: string;
  readonly entries: Readonly<Record<string, string>>;
  readonly minify: boolean;
}

/** In memory. */
export async function bundle({ root, entries, minify, without }: BundleOptions): Promise<Bundle> {
  const output = await build({
    root,
    configFile: false,
    logLevel: 'error',
    resolve: { conditions: ['@qim/source', ...defaultClientConditions] },
    build: {
      write: false,
      target: 'es2022',
      minify: minify ? 'oxc' : false,
      lib: { entry: entries, formats: ['es'] },
      rolldownOptions: { external: without === undefined ? ['react'] : ['react', without] },
    },
  });
  const chunks = (Array.isArray(output) ? output : [output]).flatMap((one) => ('output' in one ? one.output : [])).filter(isChunk);
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds);
  return {
    files: new Map(chunks.map(({ fileName, code }) => [fileName, code])),
    inside: [...new Set(modules.flatMap((id) => npmPackageOf(id) ?? []))].sort(),
  };
}

export async function writeBundle(root: string, { files }: Bundle): Promise<void> {
  for (const [name, code] of files) await writeFile(join(root, OUT, name), code);
}

/** What an application's own bundler would make of one entry, in bytes after gzip: what a visitor downloads. */
export async function gzippedBytes(root: string, entry: string, without?: RegExp): Promise<number> {
  const { files } = await bundle({ root, entries: { entry }, minify: true, without });
  return [...files.values()].reduce((sum, code) => sum + gzipSync(code, { level: 9 }).length, 0);
}

function isChunk(one: Rolldown.OutputChunk | Rolldown.OutputAsset): one is Rolldown.OutputChunk {
  return one.type === 'chunk';
}

function npmPackageOf(id: string): string | undefined {
  return /node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0];
}
