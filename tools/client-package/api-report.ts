/**
 * The public types of the SDK: rolled up into one file for each entry, beside the bundle, and as a report in the repository
 * that changes on purpose only.
 */
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { Extractor, ExtractorConfig, type ExtractorMessage } from '@microsoft/api-extractor';
import { CLIENT, ENTRIES, OUT } from './bundle.js';

export const REPORT_FOLDER = `${CLIENT}/api`;

/** What becomes of the reports: none are made, one that differs is a problem, or they are written. */
export type Reports = 'none' | 'compare' | 'accept';

/** From what `tsc -b packages/client` made. Problems, one a line. */
export async function extractTypes(root: string, reports: Reports): Promise<readonly string[]> {
  const entries = Object.entries(ENTRIES).filter(([entry]) => entry === MAIN || reports !== 'none');
  const problems = entries.flatMap(([entry, source]) => extractEntry(root, entry, source.replace(/\.ts$/, '.d.ts'), reports));
  // They take the others from the package by its name, as an application does: rolled up they would have them twice.
  await cp(join(root, CLIENT, 'dist/react'), join(root, OUT, 'react'), { recursive: true, filter: (path) => !/\.(js|map)$/.test(path) });
  return problems;
}

function extractEntry(root: string, entry: string, types: string, reports: Reports): readonly string[] {
  const problems: string[] = [];
  const config = ExtractorConfig.prepare({
    configObject: {
      projectFolder: join(root, CLIENT),
      mainEntryPointFilePath: join(root, CLIENT, 'dist', types),
      compiler: { overrideTsconfig: COMPILER },
      apiReport: {
        enabled: reports !== 'none',
        reportFileName: entry,
        reportFolder: join(root, REPORT_FOLDER),
        reportTempFolder: join(root, CLIENT, 'dist/api'),
      },
      dtsRollup: { enabled: entry === MAIN, untrimmedFilePath: join(root, OUT, `${entry}.d.ts`) },
      docModel: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        extractorMessageReporting: {
          default: { logLevel: 'error' as never, addToApiReportFile: false },
          // Everything that is exported is public.
          'ae-missing-release-tag': { logLevel: 'none' as never },
          ...(entry !== MAIN && { 'ae-forgotten-export': { logLevel: 'none' as never } }),
          'ae-undocumented': { logLevel: 'none' as never },
        },
        // Docstrings are plain English.
        tsdocMessageReporting: { default: { logLevel: 'none' as never } },
      },
      newlineKind: 'lf',
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, CLIENT, 'package.json'),
  });
  const { apiReportChanged } = Extractor.invoke(config, {
    localBuild: reports === 'accept',
    messageCallback: (message: ExtractorMessage) => {
      if ((message.logLevel as string) === 'error') problems.push(`${entry}: ${message.text}`);
      message.handled = true;
    },
  });
  if (apiReportChanged && reports === 'compare') {
    problems.push(`${REPORT_FOLDER}/${entry}.api.md is not what the types say: if that is on purpose, npm run client:api writes it`);
  }
  return problems;
}

/** What the other entries take their types from. */
const MAIN = 'index';

/** Of the emitted declarations alone: no condition that would lead to sources. */
const COMPILER = {
  compilerOptions: {
    target: 'ES2023',
    lib: ['ES2023', 'DOM', 'DOM.Iterable'],
    module: 'ESNext',
    moduleResolution: 'Bundler',
    strict: true,
    skipLibCheck: true,
    types: [],
  },
  files: ['dist/index.d.ts', 'dist/react/index.d.ts'],
};
