/** Server streams of events over HTTP that are open now. */
import { type AckDurability, QimError } from '@qim/proto';
import type { Event } from '@qim/proto/schema';
import type { Push } from '@qim/push';
import { type Identity, refuseSuspended } from './authenticate.js';
import { at, type Clock } from './clock.js';
import type { OpenConnections } from './connection-counts.js';
import type { GatewayObserver, GatewayOptions } from './contract.js';
import { type EventEncoder, subscribed } from './event-encoding.js';
import { EventStream } from './event-stream.js';
import { unauthenticated } from './tokens.js';
import { serverStopping } from './work.js';

export interface SubscriptionsOptions {
  readonly push: Push;
  readonly isSuspended: GatewayOptions['isSuspended'];
  readonly encoder: EventEncoder;
  readonly ackDurability: AckDurability;
  readonly observer: GatewayObserver;
  readonly clock: Clock;
  readonly connections: OpenConnections;
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
   *
   * @throws RateLimited, as many as may be are open already
   */
  async open(identity: Identity, address: string, signal: AbortSignal): Promise<AsyncGenerator<Event>> {
    const closed = this.#counted(identity, address);
    try {
      return await this.#opened(identity, signal, closed);
    } catch (error) {
      closed();
      throw error;
    }
  }

  endAll(): void {
    for (const stream of this.#streams) stream.end(serverStopping());
  }

  #counted({ caller }: Identity, address: string): () => void {
    const { connections } = this.#options;
    const ended = connections.fromAddress(address);
    try {
      const left = connections.ofUser(caller);
      return () => {
        left();
        ended();
      };
    } catch (error) {
      ended();
      throw error;
    }
  }

  async #opened(identity: Identity, signal: AbortSignal, closed: () => void): Promise<AsyncGenerator<Event>> {
    const { caller, actingAdmin, expiresAtMs } = identity;
    const { push, isSuspended, encoder, observer, clock, queueBytesMax } = this.#options;
    const { tenantId, userId, deviceId } = caller;
    const stream = new EventStream(encoder, queueBytesMax, () => observer.slowConsumer());
    const unsubscribe = await push.subscribe({
      tenantId,
      userId,
      deviceId,
      deliver: (event) => {
        if (event.kind !== 'suspended') stream.deliver(event);
        else if (actingAdmin === undefined && (event.deviceId ?? deviceId) === deviceId) stream.end(unauthenticated());
        // Events were lost, and a suspension may be among them.
        if (event.kind === 'resyncNeeded') void endIfSuspended(stream, isSuspended, identity);
      },
    });
    try {
      await refuseSuspended(isSuspended, identity);
    } catch (error) {
      unsubscribe();
      throw error;
    }
    const cancelExpiry = at(clock, expiresAtMs, () => stream.end(new QimError('TokenExpired', {}, 'the token has expired')));
    this.#streams.add(stream);
    const release = () => {
      if (!this.#streams.delete(stream)) return;
      cancelExpiry();
      closed();
      unsubscribe();
      stream.end();
    };
    if (signal.aborted) release();
    else signal.addEventListener('abort', release, { once: true });
    return this.#events(stream, release);
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

async function endIfSuspended(stream: EventStream, isSuspended: GatewayOptions['isSuspended'], identity: Identity): Promise<void> {
  try {
    await refuseSuspended(isSuspended, identity);
  } catch (error) {
    stream.end(error instanceof Error ? error : unauthenticated());
  }
}
