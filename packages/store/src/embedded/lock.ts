/**
 * One server per data folder, told by the operating system.
 *
 * A small LMDB environment of its own (`server.mdb`) is the lock. A process that holds a read transaction in it has a
 * line in its reader table, and behind that line a lock of the operating system, which goes when the process goes,
 * however it goes. Who the owner is stands in a record beside it, and the two are compared inside a write transaction,
 * so that of two that start at once exactly one wins. No file needs to be removed by hand, ever, and a process number
 * that was given to another process means nothing.
 */

import { isQimError } from '@qim/proto';
import { open, type RootDatabase, type Transaction } from 'lmdb';
import { MessageStoreError, unavailable } from '../errors.js';

const OWNER = Buffer.from('owner', 'latin1');

export interface ServerLock {
  readonly release: () => Promise<void>;
}

/** @throws StoreUnavailable when a living process holds it; the error names the process */
export async function lockForServer(file: string, folder: string): Promise<ServerLock> {
  const db = openLock(file);
  let reader: Transaction | undefined;
  const release = async (): Promise<void> => {
    reader?.done();
    await db.close();
  };
  try {
    reader = hold(db, folder);
    const owner = takeOver(db);
    if (owner !== undefined) throw heldBy(`process ${owner}`, folder);
    return { release };
  } catch (error) {
    await release();
    throw isQimError(error) ? error : unavailable(`the lock of the data folder ${folder}`, error);
  }
}

/** The process that holds it, if it lives; takes nothing. Not for one that this process holds. @throws StoreUnavailable */
export async function ownerOf(file: string, folder: string): Promise<number | undefined> {
  const db = openLock(file);
  try {
    db.readerCheck();
    const owner = Number(db.get(OWNER)?.toString('latin1'));
    // Our own line is that of this very look.
    return owner !== process.pid && processesIn(db.readerList()).has(owner) ? owner : undefined;
  } catch (error) {
    throw unavailable(`the lock of the data folder ${folder}`, error);
  } finally {
    await db.close();
  }
}

/** A line of this process in the table of readers. */
function hold(db: RootDatabase<Buffer, Buffer>, folder: string): Transaction {
  try {
    const reader = db.useReadTransaction();
    // The transaction is begun by its first read.
    db.get(OWNER, { transaction: reader });
    return reader;
  } catch (error) {
    // Another process with the same number, as in another container: its lock stands on this very line.
    throw heldBy('another process', folder, error);
  }
}

/** The living owner, or undefined: it is this process now. */
function takeOver(db: RootDatabase<Buffer, Buffer>): number | undefined {
  return db.transactionSync(() => {
    db.readerCheck();
    const owner = Number(db.get(OWNER)?.toString('latin1'));
    if (owner !== process.pid && processesIn(db.readerList()).has(owner)) return owner;
    db.putSync(OWNER, Buffer.from(String(process.pid), 'latin1'));
    return undefined;
  });
}

/** The first column of LMDB's table of readers. */
function processesIn(readerList: string): ReadonlySet<number> {
  return new Set(readerList.split('\n').flatMap((line) => (/^\s*\d+\s/.test(line) ? [Number.parseInt(line, 10)] : [])));
}

function openLock(file: string): RootDatabase<Buffer, Buffer> {
  const options = {
    path: file,
    noSubdir: true,
    encoding: 'binary',
    keyEncoding: 'binary',
    overlappingSync: false,
    permissionsMode: 0o600,
    maxDbs: 1,
  } as const;
  return open(options);
}

export function heldBy(who: string, folder: string, cause?: unknown): MessageStoreError<'StoreUnavailable'> {
  const text = `another qim server (${who}) is using the data folder ${folder}`;
  return new MessageStoreError('StoreUnavailable', { what: text }, text, { cause });
}
