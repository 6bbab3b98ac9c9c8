/** What `npm run check` looks at, in order of what a reader wants to hear first. */
import { checkPackage } from '../client-package/build-package.js';
import { checkImports } from '../imports/check-imports.js';
import { baselineIsCurrent, breakingChanges, generatedIsCurrent, lintSchema } from '../schema/check-schema.js';
import { EXCEPTIONS } from '../tidy/exceptions.js';
import { readFiles, tidy } from '../tidy/tidy.js';
import { auditVerdict } from './audit.js';
import { command, type Outcome, tool } from './command.js';

export interface Step {
  readonly name: string;
  /** Problems, one a line; empty when it holds. `note` takes what a reader should know although it holds. */
  readonly run: (tracked: readonly string[], note: (text: string) => void) => Promise<readonly string[]>;
}

const NATIVE_TSC = 'node_modules/@typescript/native/bin/tsc';
/** What was found right is remembered beside what was installed, and not looked at again. */
const CHECK_ONLY = ['-p', 'tsconfig.check.json', '--incremental', '--tsBuildInfoFile', 'node_modules/.cache/qim/check.tsbuildinfo'];

function problems({ code, output }: Outcome): string[] {
  return code === 0 ? [] : [output.trimEnd() === '' ? `ended with code ${code}` : output.trimEnd()];
}

export const STEPS: readonly Step[] = [
  {
    name: 'format and lint (biome)',
    run: async () => problems(await tool('biome', ['ci', '--colors=off', '--diagnostic-level=warn', '--error-on-warnings', '.'])),
  },
  { name: 'types of what ships (tsc)', run: async () => problems(await command(process.execPath, [NATIVE_TSC, '-b'])) },
  // Before what looks at tests: they see the types that it makes.
  {
    name: 'the SDK as it is published: bundle, size, API report',
    run: async () => (await checkPackage(process.cwd(), 'compare')).problems,
  },
  {
    name: 'types of tests and tools (tsc)',
    run: async () => problems(await command(process.execPath, [NATIVE_TSC, ...CHECK_ONLY])),
  },
  { name: 'lint with types (oxlint)', run: async () => problems(await tool('oxlint', ['--deny-warnings'])) },
  { name: 'schema: style (buf lint)', run: () => lintSchema() },
  { name: 'schema: nothing breaks (buf breaking)', run: () => breakingChanges() },
  { name: 'schema: the baseline is current', run: baselineIsCurrent },
  { name: 'schema: generated code is current', run: generatedIsCurrent },
  { name: 'import directions (dependency-cruiser)', run: (tracked) => checkImports(process.cwd(), tracked) },
  { name: 'dead code (knip)', run: async () => problems(await tool('knip', ['--no-progress', '--no-config-hints'])) },
  {
    name: 'known weaknesses of what ships (npm audit)',
    run: async (_, note) => {
      const verdict = auditVerdict(await command('npm', ['audit', '--omit=dev', '--json']));
      if (verdict.kind === 'notAsked') note(`not asked, the registry gave no answer: ${verdict.why}`);
      return verdict.kind === 'weak' ? verdict.problems : [];
    },
  },
  {
    name: 'rules of the house (tools/tidy)',
    run: async (tracked) => tidy(await readFiles(process.cwd(), tracked), EXCEPTIONS),
  },
];
