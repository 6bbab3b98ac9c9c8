/** Events as they go out. Push hands the same object to every receiver, so each is encoded once for all of them. */
import { create } from '@bufbuild/protobuf';
import type { AckDurability } from '@qim/proto';
import { type Event, EventSchema } from '@qim/proto/schema';
import type { PushEvent } from '@qim/push';
import type { FrameCodec } from './frames.js';
import { wireEvent } from './to-wire.js';

interface Encoded {
  readonly event: Event;
  readonly frames: Map<FrameCodec, Uint8Array>;
}

export class EventEncoder {
  readonly #encoded = new WeakMap<PushEvent, Encoded>();

  wire(event: PushEvent): Event {
    return this.#entry(event).event;
  }

  frame(event: PushEvent, codec: FrameCodec): Uint8Array {
    const { event: wire, frames } = this.#entry(event);
    let frame = frames.get(codec);
    if (frame === undefined) {
      frame = codec.event(wire);
      frames.set(codec, frame);
    }
    return frame;
  }

  #entry(event: PushEvent): Encoded {
    let entry = this.#encoded.get(event);
    if (entry === undefined) {
      entry = { event: wireEvent(event), frames: new Map() };
      this.#encoded.set(event, entry);
    }
    return entry;
  }
}

export const RESYNC_NEEDED: PushEvent = { kind: 'resyncNeeded' };

/** The first of a stream. */
export function subscribed(ackDurability: AckDurability): Event {
  return create(EventSchema, { kind: { case: 'subscribed', value: { ackDurability } } });
}
