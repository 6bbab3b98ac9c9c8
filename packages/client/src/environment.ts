/** What the SDK needs from outside: a socket, time and randomness. Every part may be replaced. */

/** Methods, so that a handler may take the environment's own, narrower event class. */
export interface SocketHandlers {
  plain(event: unknown): void;
  message(event: { readonly data: unknown }): void;
  close(event: { readonly code: number; readonly reason: string }): void;
}

/** The part of a WebSocket that is used; the browser's and that of the package `ws` both have it. */
export interface WebSocketLike {
  binaryType: string;
  /** 1: open. */
  readonly readyState: number;
  onopen: SocketHandlers['plain'] | null;
  onmessage: SocketHandlers['message'] | null;
  onclose: SocketHandlers['close'] | null;
  onerror: SocketHandlers['plain'] | null;
  send(data: Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
}

export type WebSocketConstructor = new (url: string, protocols: string) => WebSocketLike;

export interface Environment {
  readonly WebSocket: WebSocketConstructor;
  /** Runs once after `ms`; the function returned cancels it. */
  readonly schedule: (ms: number, run: () => void) => () => void;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** 0 <= x < 1. */
  readonly random: () => number;
  /** An id that nobody else makes, 1..64 bytes: a client message id. */
  readonly newId: () => string;
  /** Calls `run` when the network may be back, or the page is looked at again; the function returned ends it. */
  readonly onNetworkBack: (run: () => void) => () => void;
}

/** @throws Error in Node without `WebSocket`: there is no global one before Node 22. */
export function environmentFrom(given: Partial<Environment>): Environment {
  const WebSocket = given.WebSocket ?? globalThis.WebSocket;
  if (WebSocket === undefined) throw new Error('there is no global WebSocket here: pass one, such as that of the package ws');
  return {
    WebSocket,
    schedule: given.schedule ?? scheduleByTimer,
    now: given.now ?? Date.now,
    random: given.random ?? Math.random,
    newId: given.newId ?? randomId,
    onNetworkBack: given.onNetworkBack ?? onNetworkBack,
  };
}

export function scheduleByTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}

/** Node tells nothing: there it never calls. */
function onNetworkBack(run: () => void): () => void {
  const page = globalThis.document as Document | undefined;
  if (page === undefined) return () => {};
  const shown = (): void => {
    if (page.visibilityState === 'visible') run();
  };
  globalThis.addEventListener('online', run);
  page.addEventListener('visibilitychange', shown);
  return () => {
    globalThis.removeEventListener('online', run);
    page.removeEventListener('visibilitychange', shown);
  };
}

/** 128 random bits. Not crypto.randomUUID: that is missing on plain http pages. */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
