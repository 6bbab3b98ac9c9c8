/**
 * A device as light as can be, so that thousands fit beside the server that is measured: JSON frames by hand, the SDK's
 * pauses, and its first call after a welcome.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type RawData, WebSocket } from 'ws';
import { pauseMs, RECONNECT_PAUSES } from '../../packages/client/src/backoff.js';

interface Frame {
  readonly id?: number;
  readonly welcome?: unknown;
  readonly reply?: unknown;
  readonly error?: { readonly retryAfterMs?: string | number };
  readonly event?: { readonly messageCommitted?: unknown };
}

export class RawDevice {
  /** By performance.now(); 0: not since `forget`. */
  caughtUpAtMs = 0;
  /** When the last message event came, by performance.now(); 0: none since `forget`. */
  messageAtMs = 0;
  turnedAway = 0;
  readonly #url: () => string;
  readonly #token: string;
  #socket: WebSocket | undefined;
  #failures = 0;
  #retryAfterMs = 0;
  #closed = false;
  #whenCaughtUp: () => void = () => {};

  constructor(url: () => string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** Opens it; resolves when it is welcome and has its list. It comes back by itself until `close`. */
  async connected(): Promise<void> {
    const caughtUp = new Promise<void>((resolve) => {
      this.#whenCaughtUp = resolve;
    });
    this.#dial();
    await caughtUp;
  }

  forget(): void {
    this.caughtUpAtMs = 0;
    this.messageAtMs = 0;
  }

  close(): void {
    this.#closed = true;
    this.#socket?.terminate();
  }

  #dial(): void {
    const socket = new WebSocket(new URL('/ws', this.#url().replace(/^http/, 'ws')), 'qim.v1+json');
    this.#socket = socket;
    socket.on('open', () => socket.send(JSON.stringify({ id: 0, hello: { token: this.#token } })));
    socket.on('message', (data) => this.#took(socket, JSON.parse(textOf(data)) as Frame));
    socket.on('error', () => undefined);
    socket.on('close', () => void this.#again());
  }

  #took(socket: WebSocket, frame: Frame): void {
    if (frame.welcome !== undefined) {
      socket.send(JSON.stringify({ id: 1, call: { method: 'qim.v1.SessionService/ListConversations', body: {} } }));
    } else if (frame.id === 1 && frame.reply !== undefined) {
      this.#failures = 0;
      this.caughtUpAtMs = performance.now();
      this.#whenCaughtUp();
    } else if (frame.error?.retryAfterMs !== undefined) {
      this.#retryAfterMs = Number(frame.error.retryAfterMs);
      if (this.#retryAfterMs > 0) this.turnedAway += 1;
    } else if (frame.event?.messageCommitted !== undefined) this.messageAtMs = performance.now();
  }

  async #again(): Promise<void> {
    if (this.#closed) return;
    this.#failures += 1;
    const ours = pauseMs(this.#failures, RECONNECT_PAUSES, Math.random);
    await pause(Math.max(ours, this.#retryAfterMs));
    this.#retryAfterMs = 0;
    if (!this.#closed) this.#dial();
  }
}

function textOf(data: RawData): string {
  return (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)).toString('utf8');
}
