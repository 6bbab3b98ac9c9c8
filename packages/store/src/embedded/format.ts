/** What kind of store a folder holds; written when it is made, and checked at every start. */
import { EMBEDDED_PARTITIONS } from '@qim/proto';
import { importUnderWay, MessageStoreError } from '../errors.js';
import type { Environment } from './environment.js';
import { FORMAT_KEY, IMPORT_KEY } from './keys.js';

/** Raised when keys or values change their form. Records, bodies and facts carry versions of their own. */
const STORE_FORMAT = 1;

/**
 * The number of commit partitions. Makes the entry when the store is empty. `importing`: the first part of an archive may be
 * all that is there.
 *
 * @throws StoreUnavailable when the folder holds another format, no entry but data, or an import that did not end
 */
export async function checkFormat(environment: Environment, importing = false): Promise<number> {
  const value = await environment.write('format', (snapshot) => {
    const stored = snapshot.get(FORMAT_KEY);
    if (stored !== undefined) return { result: stored.toString('latin1'), writes: [] };
    if (snapshot.keys(EVERYTHING, 1).length > 0) throw unknownFormat('no format entry, but data');
    const made = `${STORE_FORMAT} ${EMBEDDED_PARTITIONS}`;
    return { result: made, writes: [{ key: FORMAT_KEY, value: Buffer.from(made, 'latin1') }] };
  });
  const match = /^(\d+) (\d+)$/.exec(value);
  if (match === null || Number(match[1]) !== STORE_FORMAT) throw unknownFormat(`the format entry ${JSON.stringify(value)}`);
  if (!importing && environment.read((snapshot) => snapshot.get(IMPORT_KEY)) !== undefined) throw importUnderWay();
  return Number(match[2]);
}

const EVERYTHING = { start: Buffer.of(0), end: Buffer.of(0xff) };

function unknownFormat(found: string): MessageStoreError<'StoreUnavailable'> {
  const text = `this qim reads format ${STORE_FORMAT} of the embedded store; the folder has ${found}`;
  return new MessageStoreError('StoreUnavailable', { what: text }, text);
}
