/**
 * One link to the server, kept alive: token, socket, hello, welcome, and again after a loss. `online` means that events
 * are subscribed. What travels over it is none of its business.
 *
 * A token is renewed over the open link before it expires. A hello is answered whatever token it brings, so it also finds
 * out whether a link is still alive once the network has come back.
 */
import { CloseCode, CONNECT_TIMEOUT_MS, CONNECTION_STABLE_MS, LINK_PROBE_MS, shouldReconnect } from '@qim/proto';
import type { FrameError } from '@qim/proto/schema';
import { pauseMs, promptPauseMs, RECONNECT_PAUSES } from './backoff.js';
import { decodeServerFrame, encodeHello, type ServerFrame, SUBPROTOCOL } from './codec.js';
import type { Environment, WebSocketLike } from './environment.js';
import { clientError, type QimClientError, serverError } from './errors.js';
import { Cell, type Observable } from './observable.js';
import { expiryOf, type TokenSource, untilRenewalMs } from './token.js';
import type { Identity } from './types.js';

export type ConnectionState =
  /** Not asked to connect, or closed by `close()`. */
  | { readonly status: 'idle' }
  | { readonly status: 'connecting' }
  | { readonly status: 'online'; readonly identity: Identity }
  /** Tries again by itself. */
  | { readonly status: 'waiting'; readonly retryAtMs: number; readonly failures: number }
  /**
   * Does not try again by itself; `error.reason` says why. UNAUTHENTICATED, TOKEN_EXPIRED: the token was refused, and so
   * was the one that the callback gave instead: sign in anew. ACCOUNT_MISMATCH: it is another user's. LOGGED_OUT: by
   * another tab. Others: this client speaks what the server does not.
   */
  | { readonly status: 'stopped'; readonly closeCode: number; readonly error: QimClientError };

export interface ConnectionHandler {
  /** Undefined: this is whom the client is for; else why it must not go on. */
  refuses(identity: Identity): QimClientError | undefined;
  online(identity: Identity): void;
  /** No longer online; `stopped` when for good. */
  offline(stopped: QimClientError | undefined): void;
  frame(frame: Exclude<ServerFrame, { kind: 'welcome' | 'unknown' }>): void;
}

export interface ConnectionOptions {
  readonly url: string;
  readonly token: TokenSource;
  readonly device: string;
  readonly environment: Environment;
  readonly handler: ConnectionHandler;
}

/** Codes of our own: what a server reads in its log. */
const CLIENT_CLOSE = { Done: 1000, BadFrame: 3001, NoWelcome: 3002, Dead: 3003 } as const;

/** WebSocket.OPEN */
const SOCKET_OPEN = 1;

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #state = new Cell<ConnectionState>({ status: 'idle' });
  #socket: WebSocketLike | undefined;
  #cancelTimer: () => void = () => {};
  /** Rises whenever what is under way is given up; late callbacks compare. */
  #round = 0;
  #failures = 0;
  #tokenRefused = false;
  #onlineSinceMs = 0;
  #lastFrameAtMs = 0;
  #refusal: FrameError | undefined;
  #token = '';
  #cancelRenewal: () => void = () => {};
  #endNetworkWatch: (() => void) | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get state(): Observable<ConnectionState> {
    return this.#state;
  }

  /** Does nothing while connecting, online or waiting. */
  connect(): void {
    const { status } = this.#state.snapshot();
    if (status !== 'idle' && status !== 'stopped') return;
    this.#failures = 0;
    this.#tokenRefused = false;
    this.#endNetworkWatch ??= this.#options.environment.onNetworkBack(() => this.#networkBack());
    void this.#open();
  }

  /** Ends the waiting between two tries. */
  retryNow(): void {
    if (this.#state.snapshot().status === 'waiting') void this.#open();
  }

  close(): void {
    this.#abandon(CLIENT_CLOSE.Done);
    this.#endNetworkWatch?.();
    this.#endNetworkWatch = undefined;
    this.#become({ status: 'idle' }, undefined);
  }

  /** For good, until `connect`. */
  stop(error: QimClientError): void {
    this.#abandon(CLIENT_CLOSE.Done);
    this.#become({ status: 'stopped', closeCode: CLIENT_CLOSE.Done, error }, undefined);
  }

  /** What comes to a link that is closing is lost, as what was under way: its end is told in a moment. */
  send(frame: Uint8Array<ArrayBuffer>): void {
    if (this.#socket?.readyState === SOCKET_OPEN) this.#socket.send(frame);
  }

  /** Gives the link up if nothing at all was heard since then. */
  suspect(sinceMs: number): void {
    if (this.#state.snapshot().status !== 'online' || this.#lastFrameAtMs >= sinceMs) return;
    this.#abandon(CLIENT_CLOSE.Dead);
    this.#lost(1006);
  }

  #networkBack(): void {
    const state = this.#state.snapshot();
    if (state.status === 'online') this.#probe();
    // What the server has asked for holds, whatever the network does.
    if (state.status !== 'waiting' || (this.#refusal?.retryAfterMs ?? 0) > 0) return;
    this.#failures = 0;
    void this.#open();
  }

  /** Whether anything comes back over a link that a sleeping device may have lost. */
  #probe(): void {
    const { environment, device } = this.#options;
    const sinceMs = environment.now();
    const round = this.#round;
    this.send(encodeHello(this.#token, device));
    environment.schedule(LINK_PROBE_MS, () => {
      if (round === this.#round) this.suspect(sinceMs);
    });
  }

  async #open(): Promise<void> {
    const { environment } = this.#options;
    this.#abandon(CLIENT_CLOSE.Done);
    const round = this.#round;
    this.#refusal = undefined;
    this.#state.set({ status: 'connecting' });
    this.#cancelTimer = environment.schedule(CONNECT_TIMEOUT_MS, () => this.#drop(CLIENT_CLOSE.NoWelcome));
    try {
      const token = await this.#options.token(this.#tokenRefused ? 'refused' : 'connect');
      if (round === this.#round) this.#dial(token);
    } catch {
      // The application's own call for a token failed, as it does while the network is away.
      if (round === this.#round) this.#drop(CLIENT_CLOSE.Done);
    }
  }

  #dial(token: string): void {
    const { environment, url, device } = this.#options;
    this.#token = token;
    const socket = new environment.WebSocket(url, SUBPROTOCOL);
    this.#socket = socket;
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => socket.send(encodeHello(token, device));
    socket.onmessage = (event) => this.#received(event.data);
    socket.onclose = (event) => {
      this.#abandon(CLIENT_CLOSE.Done);
      this.#lost(event.code);
    };
    // A close follows each error and says all there is to know.
    socket.onerror = () => {};
  }

  #received(data: unknown): void {
    this.#lastFrameAtMs = this.#options.environment.now();
    const frame = decodeServerFrame(data);
    if (frame === undefined) {
      this.#drop(CLIENT_CLOSE.BadFrame);
      return;
    }
    if (frame.kind === 'welcome') {
      this.#welcomed(frame.identity);
      return;
    }
    // Id 0 is hello's: why it was refused. The close that follows decides.
    if (frame.kind === 'error' && frame.id === 0) this.#refusal = frame.error;
    else if (frame.kind !== 'unknown') this.#options.handler.frame(frame);
  }

  #welcomed(identity: Identity): void {
    if (this.#state.snapshot().status === 'online') return;
    const refusal = this.#options.handler.refuses(identity);
    if (refusal !== undefined) {
      this.stop(refusal);
      return;
    }
    this.#cancelTimer();
    this.#tokenRefused = false;
    this.#onlineSinceMs = this.#options.environment.now();
    this.#planRenewal();
    this.#state.set({ status: 'online', identity });
    this.#options.handler.online(identity);
  }

  #planRenewal(): void {
    const { environment } = this.#options;
    const expiresAtMs = expiryOf(this.#token);
    if (expiresAtMs === undefined) return;
    const { ms, renew } = untilRenewalMs(expiresAtMs - environment.now());
    this.#cancelRenewal();
    this.#cancelRenewal = environment.schedule(ms, () => (renew ? void this.#renew() : this.#planRenewal()));
  }

  async #renew(): Promise<void> {
    const round = this.#round;
    try {
      const token = await this.#options.token('renew');
      if (round !== this.#round) return;
      this.#token = token;
      this.send(encodeHello(token, this.#options.device));
    } catch {
      // Asked again below; when it expires first, the server closes and a new one is wanted.
    }
    if (round === this.#round) this.#planRenewal();
  }

  #drop(code: number): void {
    this.#abandon(code);
    this.#lost(1006);
  }

  /** Lets go of the socket and the timer; nothing that they still say is heard. */
  #abandon(code: number): void {
    this.#round += 1;
    this.#cancelTimer();
    this.#cancelRenewal();
    const socket = this.#socket;
    this.#socket = undefined;
    if (socket === undefined) return;
    socket.onopen = null;
    socket.onmessage = null;
    socket.onclose = null;
    socket.onerror = () => {};
    socket.close(code);
  }

  #lost(code: number): void {
    const { environment } = this.#options;
    const wasOnline = this.#state.snapshot().status === 'online';
    if (wasOnline && environment.now() - this.#onlineSinceMs >= CONNECTION_STABLE_MS) this.#failures = 0;
    if (code === CloseCode.Unauthenticated && !this.#tokenRefused) {
      this.#tokenRefused = true;
      this.#wait(this.#failures === 0 ? 0 : undefined);
      return;
    }
    if (!shouldReconnect(code)) {
      this.#become({ status: 'stopped', closeCode: code, error: refusalError(code, this.#refusal) }, undefined);
      return;
    }
    this.#wait(code === CloseCode.ServerStopping && this.#failures === 0 ? promptPauseMs(environment.random) : undefined);
  }

  /** `ms` undefined: as the failures so far say. */
  #wait(ms: number | undefined): void {
    const { environment } = this.#options;
    this.#failures += 1;
    const ours = ms ?? pauseMs(this.#failures, RECONNECT_PAUSES, environment.random);
    const pause = Math.max(ours, this.#refusal?.retryAfterMs ?? 0);
    this.#become({ status: 'waiting', retryAtMs: environment.now() + pause, failures: this.#failures }, pause);
  }

  #become(state: ConnectionState, retryInMs: number | undefined): void {
    const wasOnline = this.#state.snapshot().status === 'online';
    this.#state.set(state);
    if (retryInMs !== undefined) this.#cancelTimer = this.#options.environment.schedule(retryInMs, () => void this.#open());
    if (wasOnline || state.status === 'stopped') this.#options.handler.offline(state.status === 'stopped' ? state.error : undefined);
  }
}

function refusalError(code: number, refusal: FrameError | undefined): QimClientError {
  if (refusal === undefined) return clientError('CLIENT_CLOSED', `the server closed the connection for good (${code})`);
  return serverError(refusal);
}
