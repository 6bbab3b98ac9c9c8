/** The SDK on an empty page that the real server serves, in a real browser: what a test does there is plain SDK calls. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client, ClientOptions } from '@qim/client';
import { bundle } from '../../../../tools/client-package/bundle.js';
import { ROOT } from './fresh-project.js';

/** What the page has as globals. */
export interface SdkPage {
  /** Opens nothing but the cache: `connect` is the test's to call. */
  readonly make: (user: string, options?: Partial<ClientOptions>) => Client;
  client: Client;
}

const MAIN = `
import { createClient } from './sdk.js';
const login = async (user) => {
  const options = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ user }) };
  return (await (await fetch('/dev/login', options)).json()).token;
};
window.make = (user, options = {}) => {
  window.client = createClient({ url: location.origin, token: () => login(user), account: { userId: user }, ...options });
  return window.client;
};
document.title = 'ready';
`;

export async function buildSdkPage(): Promise<{ readonly folder: string; readonly remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'qim-sdk-page-'));
  const made = await bundle({ root: ROOT, entries: { sdk: 'packages/client/src/index.ts' }, minify: false });
  for (const [name, code] of made.files) await writeFile(join(folder, name), code);
  await writeFile(join(folder, 'main.js'), MAIN);
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>not yet</title><script type="module" src="/main.js"></script>');
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
