/**
 * `npm start`: installs and builds what is missing or stale, then runs `qim serve --dev` with the flags that were given.
 *
 * Plain Node without dependencies: it runs in a fresh clone. The server runs in this very process, so that signals and
 * exit codes need no handing on. What it says about itself goes to standard error: standard output is the server's.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { lockHash, ROOT, readStamp, sourceHash, writeStamp } from './build-stamp.mjs';

/** How often to look whether the npm that ran us is still there. */
const PARENT_CHECK_MS = 500;
const NODE_MIN = { major: 20, minor: 19 };

/** @param {string} text */
function say(text) {
  process.stderr.write(`qim: ${text}\n`);
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > NODE_MIN.major || (major === NODE_MIN.major && minor >= NODE_MIN.minor)) return;
  say(`Node ${NODE_MIN.major}.${NODE_MIN.minor} or newer is needed; this is ${process.versions.node}`);
  process.exit(1);
}

/** @param {string[]} args */
function npm(args) {
  // Under `npm start` the npm that runs us; otherwise the one on the path, which on Windows is a batch file.
  const own = process.env.npm_execpath;
  const [command, first] = own?.endsWith('.js') === true ? [process.execPath, [own]] : ['npm', []];
  const shell = command === 'npm' && process.platform === 'win32';
  const { status, error } = spawnSync(command, [...first, ...args], { cwd: ROOT, stdio: ['ignore', 2, 2], shell });
  if (status === 0) return;
  say(`npm ${args.join(' ')} failed${error === undefined ? '' : `: ${error.message}`}`);
  process.exit(1);
}

function isInstalled() {
  const installed = join(ROOT, 'node_modules', '.package-lock.json');
  if (!existsSync(installed)) return false;
  if (readStamp('installed') === lockHash()) return true;
  // Installed by hand: npm writes its own copy of the lock file after it.
  return statSync(installed).mtimeMs >= statSync(join(ROOT, 'package-lock.json')).mtimeMs;
}

function isBuilt() {
  const packages = readdirSync(join(ROOT, 'packages')).filter((name) => existsSync(join(ROOT, 'packages', name, 'package.json')));
  return packages.every((name) => existsSync(join(ROOT, 'packages', name, 'dist'))) && readStamp('built') === sourceHash();
}

/**
 * A signal to npm ends the shell between npm and this process, and does not come here: the server would go on without
 * anybody, and keep the port and the data folder. So the end of that shell is taken for the signal.
 */
function stopWithNpm() {
  const { ppid } = process;
  const timer = setInterval(() => {
    if (process.ppid === ppid) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, PARENT_CHECK_MS);
  timer.unref();
}

checkNode();
if (process.env.npm_lifecycle_event !== undefined) stopWithNpm();
if (!isInstalled()) {
  say('installing what package-lock.json names; this happens once');
  npm(['ci']);
}
if (readStamp('installed') !== lockHash()) writeStamp('installed', lockHash());
if (!isBuilt()) {
  say('building');
  npm(['run', 'build']);
}
process.argv = [process.execPath, join(ROOT, 'packages/cli/bin/qim.js'), 'serve', '--dev', ...process.argv.slice(2)];
await import('../packages/cli/bin/qim.js');
