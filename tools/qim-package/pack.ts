/** Puts the built rooms together as one package and lets npm pack it. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface PackOptions {
  /** Of the repository, built. */
  readonly root: string;
  /** The built page. */
  readonly page: string;
  /** Where the tarball goes. */
  readonly out: string;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const ROOMS = ['proto', 'store', 'writer', 'session', 'push', 'gateway', 'server'] as const;

/** What is only for reading the sources. */
const NOT_SHIPPED = /\.(?:d\.ts|map|tsbuildinfo)$/;

/** The path of the tarball. @throws when something was not built */
export async function packQim({ root, page, out }: PackOptions): Promise<string> {
  const staging = await mkdtemp(join(tmpdir(), 'qim-package-'));
  try {
    const cli = await manifestOf(root, 'cli');
    const dependencies: Record<string, string> = {};
    for (const room of ROOMS) Object.assign(dependencies, await addRoom(root, staging, room));
    await addPage(root, staging, page);
    await copyBuilt(join(root, 'packages/cli/dist'), join(staging, 'dist'));
    await cp(join(root, 'packages/cli/bin'), join(staging, 'bin'), { recursive: true });
    for (const name of ['LICENSE', 'README.md', 'README.zh-CN.md', 'CHANGELOG.md']) await cp(join(root, name), join(staging, name));
    await writeJson(join(staging, 'package.json'), qimManifest(cli, dependencies));
    const { stdout } = await promisify(execFile)('npm', ['pack', '--json', '--pack-destination', out], { cwd: staging });
    const [packed] = JSON.parse(stdout) as readonly { readonly filename: string }[];
    if (packed === undefined) throw new Error('npm pack made nothing');
    return join(out, packed.filename);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

function qimManifest(cli: Manifest, others: Readonly<Record<string, string>>): object {
  const own = Object.fromEntries(Object.entries(cli.dependencies ?? {}).filter(([name]) => !isRoom(name)));
  const bundled = [...ROOMS, 'web'].map((room) => `@qim/${room}`);
  const rooms = Object.fromEntries(bundled.map((name) => [name, cli.version]));
  return {
    name: cli.name,
    version: cli.version,
    description: 'An instant-messaging backend with one canonical history per conversation: command, server and page',
    type: 'module',
    license: 'Apache-2.0',
    engines: { node: '>=20.19.0' },
    bin: { qim: './bin/qim.js' },
    exports: { './package.json': './package.json' },
    files: ['bin', 'dist', 'README.zh-CN.md', 'CHANGELOG.md'],
    dependencies: { ...sorted({ ...others, ...own }), ...rooms },
    bundleDependencies: bundled,
  };
}

/** Its dependencies that are none of ours. */
async function addRoom(root: string, staging: string, room: string): Promise<Readonly<Record<string, string>>> {
  const { name, version, exports, dependencies = {} } = await manifestOf(root, room);
  const folder = join(staging, 'node_modules', name);
  await copyBuilt(join(root, 'packages', room, 'dist'), join(folder, 'dist'));
  // Scripts are read from where they stand.
  if (room === 'store') await copyOnly(join(root, 'packages/store/src/redis'), join(folder, 'src/redis'), /\.lua$/);
  await writeJson(join(folder, 'package.json'), { name, version, type: 'module', license: 'Apache-2.0', exports: runtimeOf(exports) });
  return Object.fromEntries(Object.entries(dependencies).filter(([dependency]) => !isRoom(dependency)));
}

/** Of the page only what is served: it was built with its libraries inside. */
async function addPage(root: string, staging: string, page: string): Promise<void> {
  const { name, version, exports } = await manifestOf(root, 'web');
  const folder = join(staging, 'node_modules', name);
  await copyBuilt(page, join(folder, 'dist'));
  await writeJson(join(folder, 'package.json'), { name, version, type: 'module', license: 'Apache-2.0', exports });
}

/** Without conditions that lead to sources and types, and without what is for tests. */
function runtimeOf(exports: Manifest['exports']): Readonly<Record<string, unknown>> {
  const entries = Object.entries(exports).filter(([path]) => path !== './testing' && path !== './memory');
  return Object.fromEntries(
    entries.map(([path, target]) => [path, typeof target === 'object' && target !== null && 'default' in target ? target.default : target]),
  );
}

function copyBuilt(from: string, to: string): Promise<void> {
  return cp(from, to, { recursive: true, filter: (path) => !NOT_SHIPPED.test(path) && !/\/dist\/(?:testing|memory)(?:\/|$)/.test(path) });
}

function copyOnly(from: string, to: string, names: RegExp): Promise<void> {
  return cp(from, to, { recursive: true, filter: (path) => names.test(path) || !/\.\w+$/.test(path) });
}

function isRoom(name: string): boolean {
  return name.startsWith('@qim/');
}

function sorted(entries: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function manifestOf(root: string, room: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(root, 'packages', room, 'package.json'), 'utf8')) as Manifest;
}

async function writeJson(path: string, value: object): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, `${JSON.stringify(value, null, 2)}\n`);
}
