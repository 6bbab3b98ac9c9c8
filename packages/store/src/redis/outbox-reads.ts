/**
 * Over which connections the outbox is waited for. One Redis: a single one for all partitions, in one command. A Cluster: one
 * for each partition that is owned, because one command cannot wait in several slots.
 */
import type { OutboxLease } from '../outbox/outbox.js';
import type { RedisConnection } from './connection.js';
import type { RedisContext } from './context.js';
import type { StoredEntry } from './outbox-entry.js';
import { OutboxReader } from './outbox-reader.js';

export interface OutboxReads {
  /** As Outbox.read. @throws StoreUnavailable */
  read(leases: readonly OutboxLease[], waitMs: number, signal: AbortSignal): Promise<readonly StoredEntry[]>;
  /** These entries are gone from the stream. */
  settled(lease: OutboxLease, entryIds: readonly string[]): void;
  /** Nothing is read under this lease any more: resolves when a wait for it is over. */
  ended(lease: OutboxLease): Promise<void>;
  /** Ends all waits at once. */
  close(): void;
}

export const CONNECTION_NAME = 'qim-outbox';

/** One reader on a connection of its own, which is opened by the first read. */
export function oneReader(context: RedisContext): OutboxReads {
  let opened: Promise<RedisConnection> | undefined;
  let reader: OutboxReader | undefined;
  const open = async (): Promise<OutboxReader> => {
    opened ??= context.connection.dedicated(CONNECTION_NAME);
    opened.catch(() => {
      opened = undefined;
    });
    const connection = await opened;
    reader ??= new OutboxReader(connection, context);
    return reader;
  };
  return {
    read: async (leases, waitMs, signal) => (await open()).read(leases, waitMs, signal),
    settled: (lease, entryIds) => reader?.settled(lease, entryIds),
    // Others are waited for in the same command, and what is read without a lease is not handed out.
    ended: () => Promise.resolve(),
    close: () => void opened?.then((connection) => connection.destroy()).catch(() => {}),
  };
}
