/** Frames of the subprotocol qim.v1+proto: bytes out, a closed union in. */
import type { Event, FrameError, ServerFrame as WireFrame } from '@qim/proto/schema';
import { identityFrom } from './from-wire.js';
import type { Identity } from './types.js';
import { decode, encode } from './wire/codec.js';

export const SUBPROTOCOL = 'qim.v1+proto';

export type ServerFrame =
  | { readonly kind: 'welcome'; readonly identity: Identity }
  | { readonly kind: 'reply'; readonly id: number; readonly body: Uint8Array }
  | { readonly kind: 'error'; readonly id: number; readonly error: FrameError }
  | { readonly kind: 'event'; readonly event: Event }
  /** A newer server's kind: ignored. */
  | { readonly kind: 'unknown' };

export function encodeHello(token: string, device: string): Uint8Array<ArrayBuffer> {
  return encode('ClientFrame', { kind: { case: 'hello', value: { token, device } } });
}

export function encodeCall(id: number, method: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  return encode('ClientFrame', { id: BigInt(id), kind: { case: 'call', value: { method, body } } });
}

/** Undefined: these bytes are no frame. */
export function decodeServerFrame(data: unknown): ServerFrame | undefined {
  const bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : data;
  if (!(bytes instanceof Uint8Array)) return undefined;
  try {
    const frame = decode('ServerFrame', bytes) as WireFrame;
    const id = Number(frame.id);
    switch (frame.kind.case) {
      case 'welcome':
        return { kind: 'welcome', identity: identityFrom(frame.kind.value) };
      case 'reply':
        return { kind: 'reply', id, body: frame.kind.value };
      case 'error':
        return { kind: 'error', id, error: frame.kind.value };
      case 'event':
        return { kind: 'event', event: frame.kind.value };
      case undefined:
        return { kind: 'unknown' };
    }
  } catch {
    return undefined;
  }
}
