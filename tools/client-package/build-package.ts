/** Everything of the SDK that is made: the bundle, its types, the report on them, and how large it is. */
import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CLIENT_BUNDLE_GZIP_BYTES_MAX } from '@qim/proto';
import { extractTypes, REPORT_FOLDER, type Reports } from './api-report.js';
import { bundle, CLIENT, ENTRIES, gzippedBytes, OUT, writeBundle } from './bundle.js';

const sourceOf = (entry: keyof typeof ENTRIES): string => `${CLIENT}/src/${ENTRIES[entry]}`;

export interface PackageReport {
  readonly problems: readonly string[];
  /** Entry -> bytes after minifying and gzip. */
  readonly sizes: Readonly<Record<string, number>>;
}

/** What `npm pack` takes. Needs what `tsc -b packages/client` makes. Problems, one a line. */
export async function buildPackage(root: string, reports: Reports): Promise<readonly string[]> {
  await rm(join(root, OUT), { recursive: true, force: true });
  for (const folder of [OUT, REPORT_FOLDER]) await mkdir(join(root, folder), { recursive: true });
  await cp(join(root, 'LICENSE'), join(root, OUT, 'LICENSE'));
  const entries = { index: sourceOf('index'), react: sourceOf('react') };
  const made = await bundle({ root, entries, minify: false });
  await writeBundle(root, made);
  const problems = made.inside.map((folder) => `code of ${folder} is in the bundle: write its licence beside it, or do without`);
  problems.push(...(await extractTypes(root, reports)));
  return problems;
}

/** The same, and whether its API and its size are what they are meant to be. */
export async function checkPackage(root: string, reports: 'compare' | 'accept'): Promise<PackageReport> {
  const problems = [...(await buildPackage(root, reports))];
  const sizes = { index: await gzippedBytes(root, sourceOf('index')), react: await gzippedBytes(root, sourceOf('react')) };
  if (sizes.index > CLIENT_BUNDLE_GZIP_BYTES_MAX) {
    problems.push(`the bundle has ${sizes.index} bytes after gzip, at most ${CLIENT_BUNDLE_GZIP_BYTES_MAX}`);
  }
  return { problems, sizes };
}
