/**
 * Data folders that this process has open. LMDB wants each environment once per process, so all who open a folder share
 * one; the last to leave closes it. The map is the one state of a module in this package: it mirrors LMDB's own.
 */
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { unavailable } from '../errors.js';
import { Environment } from './environment.js';
import { heldBy, lockForServer, ownerOf, type ServerLock } from './lock.js';

export const DATA_FILE = 'messages.mdb';
const LOCK_FILE = 'server.mdb';

interface OpenFolder {
  readonly environment: Environment;
  users: number;
  /** A server of this process has it, or is about to. */
  served: boolean;
  /** The last one has left; whoever comes now waits. */
  closing?: Promise<void>;
}

/** By real path. */
const openFolders = new Map<string, OpenFolder>();

export interface FolderUse {
  /** The folder's real path. */
  readonly path: string;
  readonly environment: Environment;
  /** To be called once. Waits for what was begun when it is the last. */
  readonly leave: () => Promise<void>;
}

/**
 * Creates the folder (mode 0700) when it is not there. `exclusive`: as the one server that may have it.
 *
 * @throws StoreUnavailable when another server has it, or it cannot be opened
 */
export async function enterFolder(folder: string, exclusive: boolean, mapBytes: number): Promise<FolderUse> {
  const path = realFolder(folder);
  await openFolders.get(path)?.closing;
  if (exclusive && openFolders.get(path)?.served) throw heldBy('this process', path);
  const shared = enter(path, exclusive, mapBytes);
  let lock: ServerLock | undefined;
  const leave = async (): Promise<void> => {
    await leaveFolder(path, shared, exclusive);
    await lock?.release();
  };
  try {
    if (exclusive) lock = await lockForServer(join(path, LOCK_FILE), path);
  } catch (error) {
    await leave();
    throw error;
  }
  return { path, environment: shared.environment, leave };
}

/** The process of the server that has the folder now; undefined: there is none. */
export async function servedBy(folder: string): Promise<number | undefined> {
  const path = realFolder(folder);
  if (openFolders.get(path)?.served === true) return process.pid;
  const file = join(path, LOCK_FILE);
  return existsSync(file) ? ownerOf(file, path) : undefined;
}

function realFolder(folder: string): string {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return realpathSync(folder);
  } catch (error) {
    throw unavailable(`the data folder ${folder}`, error);
  }
}

function enter(path: string, exclusive: boolean, mapBytes: number): OpenFolder {
  const open = openFolders.get(path) ?? { environment: openEnvironment(path, mapBytes), users: 0, served: false };
  openFolders.set(path, open);
  open.users += 1;
  if (exclusive) open.served = true;
  return open;
}

function openEnvironment(path: string, mapBytes: number): Environment {
  try {
    return new Environment(join(path, DATA_FILE), mapBytes);
  } catch (error) {
    throw unavailable(`the data folder ${path}`, error);
  }
}

async function leaveFolder(path: string, shared: OpenFolder, exclusive: boolean): Promise<void> {
  shared.users -= 1;
  if (exclusive) shared.served = false;
  if (shared.users > 0) return;
  shared.closing = shared.environment.close();
  await shared.closing;
  openFolders.delete(path);
}
