/** Server streams of events over HTTP that are open now. */
import { type AckDurability, QimError } from '@qim/proto';
import type { Event } from '@qim/proto/schema';
import type { Push } from '@qim/push';
import type { Identity } from './authenticate.js';
import { at, type Clock } from './clock.js';
import type { GatewayObserver } from './contract.js';
import { type EventEncoder, subscribed } from './event-encoding.js';
import { EventStream } from './event-stream.js';
import { serverStopping } from './work.js';

export interface SubscriptionsOptions {
  readonly push: Push;
  readonly encoder: EventEncoder;
  readonly ackDurability: AckDurability;
  readonly observer: GatewayObserver;
  readonly clock: Clock;
  readonly queueBytesMax: number;
}

export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #streams = new Set<EventStream>();

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  /**
   * Resolves once events flow. Ends when the signal fires, with TokenExpired at the token's end, and with StoreUnavailable
   * when the server stops.
   */
  async open({ caller, expiresAtMs }: Identity, signal: AbortSignal): Promise<AsyncGenerator<Event>> {
    const { push, encoder, observer, clock, queueBytesMax } = this.#options;
    const { tenantId, userId, deviceId } = caller;
    const stream = new EventStream(encoder, queueBytesMax, () => observer.slowConsumer());
    const unsubscribe = await push.subscribe({ tenantId, userId, deviceId, deliver: (event) => stream.deliver(event) });
    const cancelExpiry = at(clock, expiresAtMs, () => stream.end(new QimError('TokenExpired', {}, 'the token has expired')));
    this.#streams.add(stream);
    const release = () => {
      if (!this.#streams.delete(stream)) return;
      cancelExpiry();
      unsubscribe();
      stream.end();
    };
    if (signal.aborted) release();
    else signal.addEventListener('abort', release, { once: true });
    return this.#events(stream, release);
  }

  endAll(): void {
    for (const stream of this.#streams) stream.end(serverStopping());
  }

  async *#events(stream: EventStream, release: () => void): AsyncGenerator<Event> {
    try {
      yield subscribed(this.#options.ackDurability);
      for await (const event of stream.events()) {
        this.#options.observer.eventSent();
        yield event;
      }
    } finally {
      release();
    }
  }
}
