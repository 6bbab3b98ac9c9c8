/** A file as --vapid-key-file wants it, gone when the test has finished. */
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { temporaryFolder } from './running.js';

const removals: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const remove of removals.splice(0)) await remove();
});

/** `pem`: another one than a fresh key of the right kind. */
export async function vapidKeyFile(
  pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'pkcs8' }),
): Promise<string> {
  const { folder, remove } = await temporaryFolder();
  removals.push(remove);
  const file = join(folder, 'vapid.pem');
  writeFileSync(file, pem);
  return file;
}
