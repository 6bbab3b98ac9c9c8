/**
 * How processes that share a store tell each other what happened, for the devices that are connected to them. What
 * travels is a hint: it may be lost, and whoever listens is told when that may have been so. Nothing is kept.
 *
 * A user is heard where somebody listens for them. Users are spread over a fixed number of channels, so a listener may be
 * handed events of users that it never asked for, and passes them over.
 */
import type { TenantId, UserId } from '@qim/proto';

/** Bytes for users. The payload is the caller's own; the bus never looks into it. */
export interface BusEvent {
  readonly tenantId: TenantId;
  /** An array that is published again and again is worked out once. */
  readonly userIds: readonly UserId[];
  /** At most BUS_PAYLOAD_BYTES_MAX. */
  readonly payload: Uint8Array;
}

/** None of these may throw. */
export interface BusListener {
  /**
   * From another process, in the order in which that one published; perhaps in several parts, each with some of the
   * users. The payload may be kept.
   */
  received(event: BusEvent): void;
  /** Something came that is no event of ours, and was dropped. */
  malformed(): void;
  /** Events for these users may have been lost. Told when they are heard again. */
  interrupted(concerns: (tenantId: TenantId, userId: UserId) => boolean): void;
}

/** One process on the bus. It does not hear itself. */
export interface BusLink {
  /** Nobody else is there, and what is published reaches nobody. May change at any time where the store can be shared. */
  readonly alone: boolean;
  /**
   * Resolves when the store has taken all of them, in their order. Cost: a pipeline, one more for each
   * BUS_PUBLISH_BYTES_AT_ONCE.
   *
   * @throws StoreUnavailable: some of them may have gone out
   */
  publish(events: readonly BusEvent[]): Promise<void>;
  /**
   * Resolves once the server has confirmed that what is published for the user reaches the listener. The function ends it;
   * calling it again does nothing. Cost: 1 for the first user of a channel.
   *
   * @throws StoreUnavailable
   */
  subscribe(tenantId: TenantId, userId: UserId): Promise<() => void>;
  /** Ends it; the listener hears nothing more. */
  close(): void;
}

export interface Bus {
  /** `processId`: at most BUS_PROCESS_ID_BYTES_MAX; no two that live at the same time share one. */
  connect(processId: string, listener: BusListener): BusLink;
}
