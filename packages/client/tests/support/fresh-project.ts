/** A project of somebody else: a folder outside the repository with the packed SDK installed by npm, and nothing of ours. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
export const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

/** The tarball that `npm pack` makes, in a folder of its own. */
export async function packClient(): Promise<{ readonly tarball: string; readonly remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'qim-pack-'));
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: join(ROOT, 'packages/client') });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as { filename: string }[];
  return { tarball: join(folder, packed?.filename ?? ''), remove: () => rm(folder, { recursive: true, force: true }) };
}

export class FreshProject {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Without the network: the package needs nothing else. `tools` are those of the repository, by link, as what the project itself uses. */
  static async make(tarball: string, tools: readonly string[] = []): Promise<FreshProject> {
    const folder = await mkdtemp(join(tmpdir(), 'qim-fresh-'));
    await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'fresh', private: true, type: 'module' }));
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: folder });
    for (const tool of tools) {
      const link = join(folder, 'node_modules', tool);
      await mkdir(join(link, '..'), { recursive: true });
      await symlink(join(ROOT, 'node_modules', tool), link);
    }
    return new FreshProject(folder);
  }

  write(name: string, text: string): Promise<void> {
    return writeFile(join(this.folder, name), text);
  }

  async installed(): Promise<readonly string[]> {
    const lock = JSON.parse(await readFile(join(this.folder, 'package-lock.json'), 'utf8')) as { packages: Record<string, unknown> };
    return Object.keys(lock.packages).filter((path) => path !== '');
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}

/** The first block of code in a document, after a heading when one is named. */
export async function exampleOf(document: string, heading?: string): Promise<string> {
  const text = await readFile(join(ROOT, document), 'utf8');
  const from = heading === undefined ? 0 : text.indexOf(`\n## ${heading}\n`);
  const code = /```(?:js|ts|tsx|jsx)\n([\s\S]*?)```/.exec(text.slice(Math.max(from, 0)))?.[1];
  if (from < 0 || code === undefined) throw new Error(`${document} has no example ${heading ?? ''}`);
  return code;
}
