/** The outbox of the reference model: a list for each partition, and a lease with a token that rises. */
import { assert, OUTBOX_BATCH_MAX } from '@qim/proto';
import { endingAfter } from '../clock.js';
import type { Outbox, OutboxEntry, OutboxLease, PoisonEntry } from '../outbox/outbox.js';
import type { MemoryPartition, MemoryState } from './state.js';

export function memoryOutbox(state: MemoryState): Outbox {
  const { partitions, now } = state;
  return {
    partitionCount: partitions.length,

    ...memoryOwners(state),

    async acquire(index, ownerId, leaseMs) {
      const partition = partitionAt(state, index);
      const held = partition.owner !== undefined && partition.expiresAtMs > now();
      if (held && partition.owner !== ownerId) return undefined;
      if (!held) {
        partition.token += 1;
        partition.readThrough = 0;
      }
      partition.owner = ownerId;
      partition.expiresAtMs = now() + leaseMs;
      return { partition: index, token: partition.token };
    },

    async renew(lease, leaseMs) {
      const partition = owned(state, lease);
      if (partition !== undefined) partition.expiresAtMs = now() + leaseMs;
      return partition !== undefined;
    },

    async release(lease) {
      const partition = owned(state, lease);
      if (partition !== undefined) partition.owner = undefined;
    },

    async read(leases, waitMs, signal) {
      const take = () => leases.flatMap((lease) => takeNext(owned(state, lease)));
      const entries = take();
      if (entries.length > 0 || waitMs === 0 || signal.aborted) return { entries, poison: [] };
      await nextEntry(state, waitMs, signal);
      return { entries: take(), poison: [] };
    },

    async acknowledge(lease, entryIds) {
      const partition = owned(state, lease);
      if (partition === undefined) return false;
      partition.entries = partition.entries.filter(({ entry }) => !entryIds.includes(entry.entryId));
      return true;
    },

    async setAside(lease, entryId, reason) {
      const partition = owned(state, lease);
      if (partition === undefined) return false;
      const about = aboutOf(partition.entries.find(({ entry }) => entry.entryId === entryId)?.entry);
      partition.entries = partition.entries.filter(({ entry }) => entry.entryId !== entryId);
      partition.poison.set(entryId, { partition: lease.partition, entryId, reason, setAsideAtMs: now(), about });
      return true;
    },

    async poison(limit) {
      return partitions.flatMap((partition) => [...partition.poison.values()].reverse()).slice(0, limit);
    },

    async backlog() {
      const waiting = partitions.flatMap((partition) => partition.entries);
      const oldest = Math.min(...waiting.map(({ atMs }) => atMs));
      const poison = partitions.reduce((sum, partition) => sum + partition.poison.size, 0);
      return { entries: waiting.length, oldestMs: waiting.length === 0 ? 0 : now() - oldest, poison };
    },
  };
}

function memoryOwners({ owners, now }: MemoryState): Pick<Outbox, 'announceOwner' | 'withdrawOwner'> {
  return {
    async announceOwner(ownerId, forMs) {
      owners.set(ownerId, now() + forMs);
      return [...owners.values()].filter((untilMs) => untilMs > now()).length;
    },

    async withdrawOwner(ownerId) {
      owners.delete(ownerId);
    },
  };
}

export function aboutOf(entry: OutboxEntry | undefined): PoisonEntry['about'] {
  if (entry === undefined) return undefined;
  const { kind, tenantId, conversationId, conversationSeq } = entry;
  return { kind, tenantId, conversationId, conversationSeq };
}

function partitionAt({ partitions }: MemoryState, index: number): MemoryPartition {
  const partition = partitions[index];
  assert(partition !== undefined, 'partitions are numbered 0..partitionCount-1');
  return partition;
}

/** The partition, when the lease still holds. */
export function owned(state: MemoryState, lease: OutboxLease): MemoryPartition | undefined {
  const partition = partitionAt(state, lease.partition);
  const holds = partition.owner !== undefined && partition.token === lease.token && partition.expiresAtMs > state.now();
  return holds ? partition : undefined;
}

/** The next entries that this owner has not had. */
function takeNext(partition: MemoryPartition | undefined): OutboxEntry[] {
  if (partition === undefined) return [];
  const next = partition.entries.filter(({ number }) => number > partition.readThrough).slice(0, OUTBOX_BATCH_MAX);
  partition.readThrough = next.at(-1)?.number ?? partition.readThrough;
  return next.map(({ entry }) => entry);
}

/** Resolves with the next entry, after `waitMs`, or with the signal. */
function nextEntry(state: MemoryState, waitMs: number, signal: AbortSignal): Promise<void> {
  const { ended, release } = endingAfter(waitMs, signal);
  return new Promise((resolve) => {
    const done = () => {
      state.onEntry.delete(done);
      release();
      resolve();
    };
    state.onEntry.add(done);
    ended.addEventListener('abort', done);
  });
}
