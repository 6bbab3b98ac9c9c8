/**
 * Events for one server stream over HTTP: a queue between push, which never waits, and a client that reads at its own
 * speed. Bounded by bytes; past the bound what waits is dropped for one `resyncNeeded`, and the stream ends.
 */
import type { Event } from '@qim/proto/schema';
import type { PushEvent } from '@qim/push';
import { type EventEncoder, RESYNC_NEEDED } from './event-encoding.js';
import { protoFrames } from './frames.js';

export class EventStream {
  readonly #encoder: EventEncoder;
  readonly #bytesMax: number;
  readonly #overflowed: () => void;
  #waiting: PushEvent[] = [];
  #bytes = 0;
  #ended = false;
  #failure: Error | undefined;
  #wake = () => {};

  constructor(encoder: EventEncoder, bytesMax: number, overflowed: () => void) {
    this.#encoder = encoder;
    this.#bytesMax = bytesMax;
    this.#overflowed = overflowed;
  }

  deliver(event: PushEvent): void {
    if (this.#ended) return;
    if (this.#bytes > this.#bytesMax) {
      this.#waiting = [RESYNC_NEEDED];
      this.#overflowed();
      this.end();
      return;
    }
    this.#bytes += this.#size(event);
    this.#waiting.push(event);
    this.#wake();
  }

  /** What waits is still read; then the stream ends, with the error where one is given. */
  end(failure?: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#failure = failure;
    this.#wake();
  }

  async *events(): AsyncGenerator<Event> {
    for (;;) {
      for (let event = this.#take(); event !== undefined; event = this.#take()) yield this.#encoder.wire(event);
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #take(): PushEvent | undefined {
    const event = this.#waiting.shift();
    if (event !== undefined) this.#bytes -= this.#size(event);
    return event;
  }

  #size(event: PushEvent): number {
    return this.#encoder.frame(event, protoFrames).length;
  }
}
