/** What the delivery side is given: its stores, its clocks, and the way from an event to the devices. */
import type { DeviceId, TenantId, Tracing, UserId } from '@qim/proto';
import type { Bus, Directory, MessageStore, Outbox, OutboxKind, Users } from '@qim/store';
import type { EventSink, PushEvent } from './contract.js';
import type { HookObserver, Hooks } from './hooks/ports.js';

/** One event and who gets it. The event is one object for all of them. */
export interface Delivery {
  readonly tenantId: TenantId;
  readonly event: PushEvent;
  readonly userIds: readonly UserId[];
  /** The device that sent the message and has its answer; undefined: every device. */
  readonly except: { readonly userId: UserId; readonly deviceId: DeviceId } | undefined;
}

/** From events to the devices of their users, in whichever process they are connected. */
export interface EventBus {
  /**
   * Resolves when the devices here have them, in their order, and the store has taken them for the other processes.
   *
   * @throws StoreUnavailable: no device here got one, some elsewhere may have; publish all of them again
   */
  publish(deliveries: readonly Delivery[]): Promise<void>;
  /** The same as a hint that nobody waits for: what cannot be handed on is dropped. Never throws. */
  announce(delivery: Delivery): void;
  /** Those of the users who may have a device somewhere; one who has none costs a read and nothing else. */
  connected(tenantId: TenantId, userIds: readonly UserId[]): readonly UserId[];
  /**
   * Resolves once what is published reaches the sink. The function ends it; calling it again does nothing.
   *
   * @throws StoreUnavailable
   */
  subscribe(sink: EventSink): Promise<() => void>;
}

/** Never given content or ids of users. */
export interface PushLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Told of what metrics count. Must not throw. */
export interface PushObserver extends HookObserver {
  /** `lagMs`: from the commit, by the store's clock and ours; undefined for an amendment and a record that is gone. */
  entryDelivered?(kind: OutboxKind, lagMs: number | undefined): void;
  entrySetAside?(reason: string): void;
  /** A pass over a partition's entries left some to try again. */
  deliveryDeferred?(): void;
  leaseLost?(): void;
  /** How many partitions are ours now. */
  partitionsHeld?(count: number): void;
  /** Something on the bus was no event of ours, and was dropped. */
  eventMalformed?(): void;
  /** Events of other processes may have been lost; the devices concerned were told. */
  eventsInterrupted?(): void;
  /** A hint such as `readAdvanced` did not reach the other processes. */
  announcementLost?(): void;
}

export interface PushDeps {
  readonly messages: Pick<MessageStore, 'readMessages' | 'readMembers' | 'readConversation'>;
  readonly directory: Pick<Directory, 'touch' | 'join' | 'leave' | 'clearedSeqs' | 'page' | 'view'>;
  readonly users: Pick<Users, 'blocked' | 'isSuspended' | 'webPush' | 'removeWebPush'>;
  readonly outbox: Pick<
    Outbox,
    'partitionCount' | 'announceOwner' | 'withdrawOwner' | 'acquire' | 'renew' | 'release' | 'read' | 'acknowledge' | 'setAside'
  >;
  /** Unix milliseconds; for the lag that the observer is told. */
  readonly now: () => number;
  /** Milliseconds that never go back and never jump; decides how long a lease is trusted. */
  readonly monotonicNow: () => number;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Of this process; no two that live at the same time share one. */
  readonly ownerId: string;
  readonly log: PushLog;
  readonly observer?: PushObserver;
  /** Default OUTBOX_LEASE_MS. */
  readonly leaseMs?: number;
  /** Absent: the operator has no webhook. */
  readonly hooks?: Hooks | undefined;
  /** Absent: nothing is traced. */
  readonly tracing?: Tracing | undefined;
  /** The store's own: how processes that share it tell each other events. */
  readonly bus: Bus;
}
