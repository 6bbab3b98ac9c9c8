/** The connected devices of this process, by tenant and user: the event bus where there is one process. */
import type { TenantId, UserId } from '@qim/proto';
import type { EventSink } from './contract.js';
import type { Delivery, EventBus, PushLog } from './ports.js';

export class Registry implements EventBus {
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

  connected(tenantId: TenantId, userIds: readonly UserId[]): readonly UserId[] {
    const users = this.#sinks.get(tenantId);
    return users === undefined ? [] : userIds.filter((userId) => users.has(userId));
  }

  subscribe(sink: EventSink): Promise<() => void> {
    const { tenantId, userId } = sink;
    const users = this.#sinks.get(tenantId) ?? new Map<UserId, Set<EventSink>>();
    const sinks = users.get(userId) ?? new Set<EventSink>();
    this.#sinks.set(tenantId, users.set(userId, sinks.add(sink)));
    return Promise.resolve(() => this.#remove(sink));
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
