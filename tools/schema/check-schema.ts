/**
 * The schema and what is generated from it.
 *
 * tools/schema/baseline.txtpb is the schema as it was last agreed on. Nothing in the schema may break it, and it must be
 * current, so that what is added is guarded from the day that it is added. `npm run schema:baseline` renews it; it
 * refuses a breaking change unless told otherwise, and the change then shows in the diff for whoever reviews.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Outcome, tool } from '../check/command.js';

export const BASELINE = 'tools/schema/baseline.txtpb';
const GENERATED = 'packages/proto/src/gen';

function problems(run: Outcome): string[] {
  if (run.code === 0) return [];
  return run.output.trim() === '' ? [`ended with code ${run.code}`] : run.output.trim().split('\n');
}

export async function lintSchema(root = process.cwd()): Promise<string[]> {
  return problems(await tool('buf', ['lint'], root));
}

export async function breakingChanges(root = process.cwd()): Promise<string[]> {
  return problems(await tool('buf', ['breaking', '--against', BASELINE], root));
}

/** @throws when the schema does not compile. */
export async function writeImage(path: string): Promise<void> {
  const built = await tool('buf', ['build', '--exclude-source-info', '-o', path]);
  if (built.code !== 0) throw new Error(built.output);
}

export async function baselineIsCurrent(): Promise<string[]> {
  return inTemporaryFolder(async (folder) => {
    const image = join(folder, 'image.txtpb');
    await writeImage(image);
    const same = (await readFile(image, 'utf8')) === (await readFile(BASELINE, 'utf8'));
    return same ? [] : [`the schema has changed since ${BASELINE} was written: run npm run schema:baseline and commit it`];
  });
}

/** Generates anew beside the repository and compares, so that a working copy is never touched by a check. */
export async function generatedIsCurrent(): Promise<string[]> {
  return inTemporaryFolder(async (folder) => {
    const generated = await tool('buf', ['generate', '--output', folder]);
    if (generated.code !== 0) return problems(generated);
    return differences(join(folder, GENERATED), GENERATED);
  });
}

/** Files that are missing, different, or too many in `actual`. */
export async function differences(wanted: string, actual: string): Promise<string[]> {
  const [wantedFiles, actualFiles] = await Promise.all([filesBelow(wanted), filesBelow(actual)]);
  if (wantedFiles.length === 0) return ['nothing was generated'];
  const found: string[] = [];
  for (const path of new Set([...wantedFiles, ...actualFiles])) {
    const [left, right] = await Promise.all([textOf(join(wanted, path)), textOf(join(actual, path))]);
    if (left !== right) found.push(`${actual}/${path} is not what the schema generates: run npm run gen and commit it`);
  }
  return found;
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

async function textOf(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

async function inTemporaryFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'qim-schema-'));
  try {
    return await run(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
