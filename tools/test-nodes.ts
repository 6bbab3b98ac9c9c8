/**
 * `npm run test:nodes [-- --node 22] [-- vitest arguments]`: the suites on other versions of Node than this one, each from the
 * npm package of its binary, in a folder of its own. Without arguments it runs the fast tests; `-- run` alone all of them.
 *
 * Needs the network, and what the suites need. Ends with 1 when a test fails on one of them.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

const VERSIONS = ['22', '24'];
const FAST = ['run', '--project', 'fast'];
const ROOT = fileURLToPath(new URL('..', import.meta.url));

const { values, positionals } = parseArgs({ options: { node: { type: 'string', multiple: true } }, allowPositionals: true });

/** The binary of the newest release of that version. npm runs no script of it. */
async function install(version: string, folder: string): Promise<string> {
  const name = `node-${process.platform}-${process.arch}`;
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', `${name}@${version}`], { cwd: folder });
  return join(folder, 'node_modules', name, 'bin/node');
}

async function suites(version: string): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'qim-node-'));
  try {
    const node = await install(version, folder);
    const { stdout } = await promisify(execFile)(node, ['--version']);
    console.log(`== Node ${stdout.trim()}`);
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
    // First on the path, so that processes which tests start run on it too.
    const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}` };
    const child = spawn(node, [vitest, ...(positionals.length === 0 ? FAST : positionals)], { cwd: ROOT, env, stdio: 'inherit' });
    const closed: Promise<readonly unknown[]> = once(child, 'exit');
    const [code] = await closed;
    console.log(`== Node ${stdout.trim()}: ${code === 0 ? 'passed' : `failed (${String(code)})`}`);
    return code === 0;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

let passed = true;
for (const version of values.node ?? VERSIONS) passed = (await suites(version)) && passed;
process.exitCode = passed ? 0 : 1;
