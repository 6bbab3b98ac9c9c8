/**
 * What was committed and is not yet delivered, per commit partition; written in the commit's own step.
 *
 * Owners make themselves known, so that they can share the partitions; that alone gives them nothing.
 * Each partition has one owner at a time, by a lease with a fencing token; the owner must stop by its own monotonic
 * clock at two thirds of the lease unless it was renewed. Delivery is at least once: a new owner first gets again what
 * the last one had read and not acknowledged. Entries of a partition come in the order of their commits. Every method
 * may throw `StoreUnavailable`.
 */
import type { ConversationId, ConversationSeq, TenantId } from '@qim/proto';
import type { CommitRequest } from '../message/message-store.js';

/**
 * created: the first record of a new conversation; committed: any other message; amended: a record was rewritten;
 * membership: a Control record with joins, leaves or a new role.
 */
export type OutboxKind = 'created' | 'committed' | 'amended' | 'membership';

/** Of a commit to a conversation that exists. */
export function outboxKind(change: CommitRequest['change']): OutboxKind {
  return change === undefined || change.kind === 'title' || change.kind === 'settings' ? 'committed' : 'membership';
}

/** Ids and sequences, never content. */
export interface OutboxEntry {
  readonly partition: number;
  /** Unique and rising within the partition. */
  readonly entryId: string;
  readonly kind: OutboxKind;
  readonly tenantId: TenantId;
  readonly conversationId: ConversationId;
  readonly conversationSeq: ConversationSeq;
}

export interface OutboxLease {
  readonly partition: number;
  /** Rises with each change of owner. */
  readonly token: number;
}

export interface OutboxBatch {
  readonly entries: readonly OutboxEntry[];
  /** Entries that could not be understood; the owner sets them aside. */
  readonly poison: readonly { readonly partition: number; readonly entryId: string; readonly reason: string }[];
}

/** What lies aside. */
export interface PoisonEntry {
  readonly partition: number;
  /** As the outbox gave it. */
  readonly entryId: string;
  /** A stable word for an operator, such as `CorruptRecord recordUnreadable`; never content. */
  readonly reason: string;
  /** Unix milliseconds by the store's clock; 0: it was not written down. */
  readonly setAsideAtMs: number;
  /** What it was about; undefined: that could not be understood. */
  readonly about: Pick<OutboxEntry, 'kind' | 'tenantId' | 'conversationId' | 'conversationSeq'> | undefined;
}

export interface Outbox {
  /** Numbered 0..partitionCount-1; fixed when the deployment was made. */
  readonly partitionCount: number;

  /** Says that the owner lives for `forMs` from now, and how many do, itself included. Cost: 1. */
  announceOwner(ownerId: string, forMs: number): Promise<number>;

  /** The owner does not count any more. Cost: 1. */
  withdrawOwner(ownerId: string): Promise<void>;

  /** The lease, or undefined while somebody else holds it. Cost: 1. */
  acquire(partition: number, ownerId: string, leaseMs: number): Promise<OutboxLease | undefined>;

  /** False: it was lost; the caller must stop at once. Cost: 1. */
  renew(lease: OutboxLease, leaseMs: number): Promise<boolean>;

  /** Gives it back before its time. Cost: 1. */
  release(lease: OutboxLease): Promise<void>;

  /**
   * Entries of the partitions that these leases own, at most OUTBOX_BATCH_MAX for each; first what is pending from
   * before the lease. Waits up to `waitMs` (0: not at all) for the first one; the signal ends the wait. Never ends in
   * the middle of the pending ones of a partition with newer ones. Cost: 1, on a connection of its own.
   */
  read(leases: readonly OutboxLease[], waitMs: number, signal: AbortSignal): Promise<OutboxBatch>;

  /** Removes them. False: the lease was lost, and nothing was removed. Cost: 1. */
  acknowledge(lease: OutboxLease, entryIds: readonly string[]): Promise<boolean>;

  /** Moves one that cannot be handled out of the way, with the reason. False: the lease was lost. Cost: 1. */
  setAside(lease: OutboxLease, entryId: string, reason: string): Promise<boolean>;

  /** What lies aside, the newest of each partition first, at most `limit` (1..OUTBOX_POISON_READ_MAX) in all. Cost: 1. */
  poison(limit: number): Promise<readonly PoisonEntry[]>;

  /** Entries waiting, and how long the oldest has waited (0 when none). For metrics. Cost: 1. */
  backlog(): Promise<{ readonly entries: number; readonly oldestMs: number; readonly poison: number }>;
}
