/** A copy of an embedded store of one moment, beside the server that has it. */
import { existsSync } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { EMBEDDED_MAP_BYTES_DEFAULT } from '@qim/proto';
import { unavailable } from '../errors.js';
import { DATA_FILE, enterFolder } from './folders.js';
import { checkFormat } from './format.js';

/**
 * Makes the folder `to` (mode 0700), which must hold no store; what is copied is on the disk when it resolves. The server goes on; until
 * then the file of the store keeps what is replaced meanwhile, and grows by it.
 *
 * @throws StoreUnavailable
 */
export async function backUpEmbedded(folder: string, to: string): Promise<void> {
  const target = join(to, DATA_FILE);
  if (existsSync(target)) throw unavailable(`${to} holds a store already`);
  const { environment, leave } = await enterFolder(folder, false, EMBEDDED_MAP_BYTES_DEFAULT);
  try {
    await checkFormat(environment);
    await mkdir(to, { recursive: true, mode: 0o700 });
    await environment.copyTo(`${target}.part`);
    await flushed(`${target}.part`);
    await rename(`${target}.part`, target);
    await flushed(to);
  } finally {
    await leave();
  }
}

async function flushed(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
