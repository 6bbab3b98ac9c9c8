/** Finds the built chat page of @qim/web. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Undefined: the page was not built, or @qim/web is not installed. */
export function findPageFolder(): string | undefined {
  try {
    const require = createRequire(import.meta.url);
    const manifest = require.resolve('@qim/web/package.json');
    const folder = join(dirname(manifest), 'dist');
    return existsSync(join(folder, 'index.html')) ? folder : undefined;
  } catch {
    return undefined; // MODULE_NOT_FOUND: a server without a page is a whole server.
  }
}
