/**
 * `npm test`: everything, from a fresh clone. Says what it will install and installs it (Debian, root; QIM_TEST_INSTALL=0
 * forbids it), installs packages, builds, then runs the check, all tests and the acceptance. The last line is
 * `N passed, N failed`, and the exit code says the same.
 *
 * Plain Node without dependencies. A part that fails does not keep the next one from running, except where nothing after
 * it could run at all.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './test/run.mjs';
import { isOnPath, NEEDED, planInstall } from './test/system.mjs';
import { fromAcceptance, fromCheck, fromExitCode, fromVitest, total } from './test/tally.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const RESULTS = join(ROOT, 'test-results');

/** @param {string} text */
function say(text) {
  console.log(`\n== ${text}`);
}

/** @param {string} name @returns {string | undefined} */
function readResult(name) {
  const path = join(RESULTS, name);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** @param {string} program @param {readonly string[]} args */
const inRoot = (program, args) => run(program, args, { cwd: ROOT, env: { CI: 'true', NO_COLOR: '1' } });

function planForThisMachine() {
  const path = process.env.PATH ?? '';
  return planInstall({
    needed: NEEDED,
    has: (program) => isOnPath(program, path),
    isRoot: process.getuid?.() === 0,
    allowed: process.env.QIM_TEST_INSTALL !== '0',
  });
}

/** @returns {Promise<boolean>} whether all that the tests need is there */
async function installSystem() {
  const plan = planForThisMachine();
  if (plan.kind === 'nothing') return true;
  for (const { program, why } of plan.missing) console.log(`missing: ${program} (${why})`);
  if (plan.kind === 'refuse') {
    console.log(`not installed: ${plan.reason}. The command is:\n  ${plan.command}`);
    return false;
  }
  for (const [program = '', ...args] of plan.commands) {
    console.log(`will run: ${[program, ...args].join(' ')}`);
    const { code } = await run(program, args, { cwd: ROOT, env: { DEBIAN_FRONTEND: 'noninteractive' } });
    if (code !== 0) return false;
  }
  const after = planForThisMachine();
  if (after.kind === 'nothing') return true;
  for (const { program } of after.missing) console.log(`installed, and still not on the path: ${program}`);
  return false;
}

/** npm writes its copy of the lock file last, so an install that was cut short, or an older one, is noticed. */
function packagesAreInstalled() {
  const installed = join(ROOT, 'node_modules/.package-lock.json');
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(ROOT, 'package-lock.json')).mtimeMs;
}

/** @returns {Promise<import('./test/tally.mjs').Count[]>} */
async function runAll() {
  say('what the tests need from this machine');
  if (!(await installSystem())) return [fromExitCode(1)];

  say('npm packages');
  if (packagesAreInstalled()) console.log('installed');
  else if ((await inRoot('npm', ['ci'])).code !== 0) return [fromExitCode(1)];

  say('build');
  if ((await inRoot('npm', ['run', 'build'])).code !== 0) return [fromExitCode(1)];

  const counts = [];
  say('check');
  const check = await inRoot('npm', ['run', 'check', '--', '--json', join(RESULTS, 'check.json')]);
  counts.push(fromCheck(readResult('check.json'), check.code));

  say('tests');
  const report = join(RESULTS, 'vitest.json');
  const vitest = await inRoot('npx', [
    'vitest',
    'run',
    '--allowOnly=false',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ]);
  counts.push(fromVitest(readResult('vitest.json'), vitest.code));

  say('acceptance');
  const acceptance = await inRoot('npm', ['run', 'acceptance']);
  counts.push(fromAcceptance(acceptance.output, acceptance.code));
  return counts;
}

rmSync(RESULTS, { recursive: true, force: true });
mkdirSync(RESULTS, { recursive: true });
const startedAt = performance.now();
const counts = await runAll();
const { passed, failed, note } = total(counts);
say(`done in ${Math.round((performance.now() - startedAt) / 1000)} s`);
for (const part of [...counts, { note }]) if (part.note !== undefined) console.log(part.note);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
