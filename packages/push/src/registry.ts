/** The connected devices of this process, by tenant and user. */
import type { TenantId, UserId } from '@qim/proto';
import type { EventSink, PushEvent } from './contract.js';
import type { Delivery, PushLog } from './ports.js';

const RESYNC_NEEDED: PushEvent = { kind: 'resyncNeeded' };

export class Registry {
  readonly #sinks = new Map<TenantId, Map<UserId, Set<EventSink>>>();
  readonly #log: PushLog;

  constructor(log: PushLog) {
    this.#log = log;
  }

  publish({ tenantId, event, userIds, except }: Delivery): void {
    const users = this.#sinks.get(tenantId);
    if (users === undefined) return;
    for (const userId of userIds) {
      for (const sink of users.get(userId) ?? []) {
        const sender = except !== undefined && except.userId === userId && except.deviceId === sink.deviceId;
        if (!sender) this.#hand(sink, event);
      }
    }
  }

  /** Those of the users who have a device here. */
  connected(tenantId: TenantId, userIds: readonly UserId[]): readonly UserId[] {
    const users = this.#sinks.get(tenantId);
    return users === undefined ? [] : userIds.filter((userId) => users.has(userId));
  }

  /** Tells all devices of these users to list again; how many there were. */
  resync(concerns: (tenantId: TenantId, userId: UserId) => boolean): number {
    let told = 0;
    for (const [tenantId, users] of this.#sinks) {
      for (const [userId, sinks] of users) {
        if (!concerns(tenantId, userId)) continue;
        for (const sink of sinks) this.#hand(sink, RESYNC_NEEDED);
        told += sinks.size;
      }
    }
    return told;
  }

  /** The function takes it out; calling it again does nothing. */
  add(sink: EventSink): () => void {
    const { tenantId, userId } = sink;
    const users = this.#sinks.get(tenantId) ?? new Map<UserId, Set<EventSink>>();
    const sinks = users.get(userId) ?? new Set<EventSink>();
    this.#sinks.set(tenantId, users.set(userId, sinks.add(sink)));
    return () => this.#remove(sink);
  }

  #remove(sink: EventSink): void {
    const users = this.#sinks.get(sink.tenantId);
    const sinks = users?.get(sink.userId);
    if (users === undefined || sinks === undefined) return;
    sinks.delete(sink);
    // Nothing is kept of a user who went away.
    if (sinks.size === 0) users.delete(sink.userId);
    if (users.size === 0) this.#sinks.delete(sink.tenantId);
  }

  /** A sink that throws breaks its promise; the others, and the outbox behind them, must not notice. */
  #hand(sink: EventSink, event: Delivery['event']): void {
    try {
      sink.deliver(event);
    } catch (error) {
      this.#log.error({ err: error, event: event.kind }, 'a device took an event by throwing');
    }
  }
}
