/**
 * The last few events that came from other processes. One event may come in several parts, each with some of its users:
 * the same bytes give the same object, so that it is decoded, and encoded for devices, once for all of them.
 */
import { BUS_EVENTS_REMEMBERED } from '@qim/proto';
import { decodeEvent, type SharedDelivery } from './event-codec.js';

export class RecentEvents {
  readonly #recent: { readonly bytes: Uint8Array; readonly decoded: SharedDelivery }[] = [];

  /** Undefined: no event. */
  decode(bytes: Uint8Array): SharedDelivery | undefined {
    const known = this.#recent.find((each) => Buffer.compare(each.bytes, bytes) === 0);
    if (known !== undefined) return known.decoded;
    const decoded = decodeEvent(bytes);
    if (decoded === undefined) return undefined;
    this.#recent.unshift({ bytes, decoded });
    if (this.#recent.length > BUS_EVENTS_REMEMBERED) this.#recent.pop();
    return decoded;
  }
}
