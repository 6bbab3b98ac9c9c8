/** A WebSocket of the package ws whose events are lost, doubled and late by turns; answers always come. */
import type { WebSocketConstructor, WebSocketLike } from '@qim/client';
import { WebSocket } from 'ws';
import { decodeServerFrame } from '../../src/codec.js';

export type Fate = 'once' | 'twice' | 'late' | 'lost';

/** `fates` are taken one after another, again and again; 'late' ones come, the last first, once there are three of them. */
export function lossySocket(fates: readonly Fate[]): WebSocketConstructor {
  const late: { readonly data: unknown }[] = [];
  let count = 0;
  return class {
    readonly #socket: WebSocketLike;
    onmessage: WebSocketLike['onmessage'] = null;

    constructor(url: string, protocols: string) {
      this.#socket = new WebSocket(url, protocols);
      this.#socket.onmessage = (event) => this.#received(event);
    }

    set binaryType(type: string) {
      this.#socket.binaryType = type;
    }
    get binaryType(): string {
      return this.#socket.binaryType;
    }
    get readyState(): number {
      return this.#socket.readyState;
    }
    set onopen(handle: WebSocketLike['onopen']) {
      this.#socket.onopen = handle;
    }
    set onclose(handle: WebSocketLike['onclose']) {
      this.#socket.onclose = handle;
    }
    set onerror(handle: WebSocketLike['onerror']) {
      this.#socket.onerror = handle;
    }
    send(data: Uint8Array<ArrayBuffer>): void {
      this.#socket.send(data);
    }
    close(code?: number, reason?: string): void {
      this.#socket.close(code, reason);
    }

    #received(event: { readonly data: unknown }): void {
      const frame = decodeServerFrame(event.data);
      if (frame?.kind !== 'event' || frame.event.kind.case === 'resyncNeeded') {
        this.onmessage?.(event);
        return;
      }
      const fate = fates[count % fates.length];
      count += 1;
      if (fate === 'once' || fate === 'twice') this.onmessage?.(event);
      if (fate === 'twice') this.onmessage?.(event);
      if (fate === 'late') late.push(event);
      if (late.length > 2) for (const one of late.splice(0).reverse()) this.onmessage?.(one);
    }
  };
}
