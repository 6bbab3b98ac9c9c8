/** All that a data folder holds, so that a test can say: nothing changed. */
import { EMBEDDED_MAP_BYTES_DEFAULT } from '@qim/proto';
import { enterFolder } from '../src/embedded/folders.js';

const EVERYTHING = { start: Buffer.of(0), end: Buffer.of(0xff) };

/** One line for each entry, in the order of the keys. */
export async function dump(folder: string): Promise<readonly string[]> {
  const { environment, leave } = await enterFolder(folder, false, EMBEDDED_MAP_BYTES_DEFAULT);
  try {
    return environment.read((snapshot) =>
      snapshot
        .entries(EVERYTHING, Number.MAX_SAFE_INTEGER)
        .map(({ key, value }) => `${key.toString('latin1')} = ${value.toString('latin1')}`),
    );
  } finally {
    await leave();
  }
}
