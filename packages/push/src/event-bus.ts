/**
 * From an event to the devices of its users, wherever they are connected: those of this process from memory, those of
 * others over the store's bus. Each event is encoded once, whoever gets it.
 */
import type { TenantId, UserId } from '@qim/proto';
import type { Bus, BusEvent, BusLink } from '@qim/store';
import type { EventSink } from './contract.js';
import { encodeEvent } from './event-codec.js';
import type { Delivery, EventBus, PushLog, PushObserver } from './ports.js';
import { RecentEvents } from './recent-events.js';
import { Registry } from './registry.js';

export class DeviceBus implements EventBus {
  readonly #registry: Registry;
  readonly #link: BusLink;
  readonly #recent = new RecentEvents();
  readonly #log: PushLog;
  readonly #observer: PushObserver | undefined;

  constructor(bus: Bus, processId: string, log: PushLog, observer: PushObserver | undefined) {
    this.#log = log;
    this.#observer = observer;
    this.#registry = new Registry(log);
    this.#link = bus.connect(processId, {
      received: (event) => this.#received(event),
      malformed: () => this.#malformed(),
      interrupted: (concerns) => this.#interrupted(concerns),
    });
  }

  /** Others first: when that fails, nothing was handed on here, and the whole is tried again. */
  async publish(deliveries: readonly Delivery[]): Promise<void> {
    if (!this.#link.alone) await this.#link.publish(deliveries.filter(({ userIds }) => userIds.length > 0).map(encoded));
    for (const delivery of deliveries) this.#registry.publish(delivery);
  }

  announce(delivery: Delivery): void {
    this.#registry.publish(delivery);
    if (this.#link.alone) return;
    this.#link.publish([encoded(delivery)]).catch((error: unknown) => {
      this.#observer?.announcementLost?.();
      this.#log.warn({ err: error, event: delivery.event.kind }, 'an announcement did not reach the other processes');
    });
  }

  connected(tenantId: TenantId, userIds: readonly UserId[]): readonly UserId[] {
    return this.#link.alone ? this.#registry.connected(tenantId, userIds) : userIds;
  }

  async subscribe(sink: EventSink): Promise<() => void> {
    const remove = this.#registry.add(sink);
    try {
      const end = await this.#link.subscribe(sink.tenantId, sink.userId);
      return () => {
        remove();
        end();
      };
    } catch (error) {
      remove();
      throw error;
    }
  }

  #received({ tenantId, userIds, payload }: BusEvent): void {
    // Most events of a deployment are for users of other processes: those are not even decoded.
    const here = this.#registry.connected(tenantId, userIds);
    if (here.length === 0) return;
    const decoded = this.#recent.decode(payload);
    if (decoded === undefined) this.#malformed();
    else this.#registry.publish({ tenantId, userIds: here, ...decoded });
  }

  #malformed(): void {
    this.#observer?.eventMalformed?.();
  }

  #interrupted(concerns: (tenantId: TenantId, userId: UserId) => boolean): void {
    const devices = this.#registry.resync(concerns);
    this.#observer?.eventsInterrupted?.();
    this.#log.warn({ devices }, 'events of other processes may have been lost; the devices here are told to list again');
  }
}

function encoded({ tenantId, userIds, event, except }: Delivery): BusEvent {
  return { tenantId, userIds, payload: encodeEvent({ event, except }) };
}
