/**
 * Calls over whatever connection there is: numbered, at most CALLS_IN_FLIGHT_MAX at once, the rest waiting in order.
 * A call is sent once at most. Nothing here tries again: who knows whether repeating is harmless does (retry.ts).
 */
import { CALL_TIMEOUT_MS, CALLS_IN_FLIGHT_MAX, CLIENT_CALLS_WAITING_MAX, CLIENT_FRAME_BYTES_MAX } from '@qim/proto';
import { encodeCall } from './codec.js';
import type { Environment } from './environment.js';
import { clientError, payloadTooLarge, type QimClientError, withOutcome } from './errors.js';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** From the call to its answer, waiting included; absent: CALL_TIMEOUT_MS. */
  readonly timeoutMs?: number | undefined;
}

interface PendingCall {
  readonly id: number;
  readonly frame: Uint8Array<ArrayBuffer>;
  readonly resolve: (body: Uint8Array) => void;
  readonly reject: (error: QimClientError) => void;
  /** Ends the timer and the watching of the signal. */
  readonly release: () => void;
  /** Undefined: not sent yet. */
  sentAtMs: number | undefined;
  /** The caller was answered already; its place stays taken until the server answers too. */
  settled: boolean;
}

export interface CallsLink {
  send(frame: Uint8Array<ArrayBuffer>): void;
  /** A call sent at `sentAtMs` had no answer in time: the link may be dead. */
  suspect(sentAtMs: number): void;
}

export class Calls {
  readonly #environment: Environment;
  readonly #inFlight = new Map<number, PendingCall>();
  readonly #waiting: PendingCall[] = [];
  /** Each ends one pause before its time. */
  readonly #pauses = new Set<(error: QimClientError) => void>();
  #link: CallsLink | undefined;
  #closed: QimClientError | undefined;
  #lastId = 0;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** @throws QimClientError the server's, or NOT_CONNECTED | CONNECTION_LOST | CALL_TIMEOUT | CANCELED | CLIENT_CLOSED | CLIENT_LIMIT | PAYLOAD_TOO_LARGE */
  call(method: string, body: Uint8Array, options: CallOptions = {}): Promise<Uint8Array> {
    const { signal } = options;
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    if (signal?.aborted === true) return Promise.reject(canceled());
    const id = ++this.#lastId;
    const frame = encodeCall(id, method, body);
    // The server would close the link on it, for good.
    if (frame.length > CLIENT_FRAME_BYTES_MAX) return Promise.reject(payloadTooLarge(CLIENT_FRAME_BYTES_MAX));
    if (this.#waiting.length >= CLIENT_CALLS_WAITING_MAX) {
      return Promise.reject(clientError('CLIENT_LIMIT', `at most ${CLIENT_CALLS_WAITING_MAX} calls may wait`));
    }
    return new Promise((resolve, reject) => {
      const onAbort = (): void => this.#giveUp(call, canceled(call.sentAtMs !== undefined));
      const cancelTimer = this.#environment.schedule(options.timeoutMs ?? CALL_TIMEOUT_MS, () => this.#timeOut(call));
      const release = (): void => {
        cancelTimer();
        signal?.removeEventListener('abort', onAbort);
      };
      const call: PendingCall = { id, frame, resolve, reject, release, sentAtMs: undefined, settled: false };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(call);
      this.#pump();
    });
  }

  /** Between two tries of a call. @throws QimClientError as soon as every call does */
  pause(ms: number): Promise<void> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    return new Promise((resolve, reject) => {
      const end = (error: QimClientError): void => {
        cancel();
        reject(error);
      };
      const cancel = this.#environment.schedule(ms, () => {
        this.#pauses.delete(end);
        resolve();
      });
      this.#pauses.add(end);
    });
  }

  attach(link: CallsLink): void {
    this.#link = link;
    this.#pump();
  }

  /** The link is gone: what was sent has an unknown outcome; what waits goes on waiting. */
  detach(): void {
    this.#failSent(clientError('CONNECTION_LOST', 'the connection was lost before the answer'));
  }

  reply(id: number, body: Uint8Array): void {
    this.#answered(id, (call) => call.resolve(body));
  }

  fail(id: number, error: QimClientError): void {
    this.#answered(id, (call) => call.reject(error));
  }

  /** Everything unanswered fails, what waits for its next try too, and so does every later call. */
  close(error: QimClientError): void {
    this.#closed = error;
    this.#failSent(error);
    for (const call of this.#waiting.splice(0)) settle(call, () => call.reject(error));
    for (const end of this.#pauses) end(error);
    this.#pauses.clear();
  }

  /** Takes calls again after `close`. */
  reopen(): void {
    this.#closed = undefined;
  }

  #failSent(error: QimClientError): void {
    this.#link = undefined;
    const sent = [...this.#inFlight.values()];
    this.#inFlight.clear();
    for (const call of sent) settle(call, () => call.reject(withOutcome(error, true)));
  }

  #answered(id: number, use: (call: PendingCall) => void): void {
    const call = this.#inFlight.get(id);
    // An answer to nothing: a fault of the server that harms nobody.
    if (call === undefined) return;
    this.#inFlight.delete(id);
    settle(call, () => use(call));
    this.#pump();
  }

  #pump(): void {
    while (this.#link !== undefined && this.#inFlight.size < CALLS_IN_FLIGHT_MAX) {
      const call = this.#waiting.shift();
      if (call === undefined) return;
      call.sentAtMs = this.#environment.now();
      this.#inFlight.set(call.id, call);
      this.#link.send(call.frame);
    }
  }

  #timeOut(call: PendingCall): void {
    if (call.sentAtMs === undefined) {
      this.#giveUp(call, clientError('NOT_CONNECTED', 'there was no connection in the time allowed'));
      return;
    }
    const link = this.#link;
    this.#giveUp(call, clientError('CALL_TIMEOUT', 'no answer in the time allowed', true));
    link?.suspect(call.sentAtMs);
  }

  #giveUp(call: PendingCall, error: QimClientError): void {
    const at = this.#waiting.indexOf(call);
    if (at >= 0) this.#waiting.splice(at, 1);
    settle(call, () => call.reject(error));
  }
}

function settle(call: PendingCall, how: () => void): void {
  if (call.settled) return;
  call.settled = true;
  call.release();
  how();
}

function canceled(outcomeUnknown = false): QimClientError {
  return clientError('CANCELED', 'the call was canceled', outcomeUnknown);
}
