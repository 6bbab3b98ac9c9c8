/**
 * One WebSocket: hello, calls, events. It holds nothing that another connection can see, and whatever a client sends ends
 * in a reply, an error frame, or a close with a code of its own.
 *
 * Frames are taken in the order of their arrival; a call that comes while a hello is being checked waits for it.
 */
import type { Duplex } from 'node:stream';
import { create } from '@bufbuild/protobuf';
import {
  type AckDurability,
  CALLS_IN_FLIGHT_MAX,
  CLIENT_FRAME_BYTES_MAX,
  CloseCode,
  payloadTooLarge,
  QimError,
  resourceLimit,
} from '@qim/proto';
import { WelcomeSchema } from '@qim/proto/schema';
import type { Push, PushEvent } from '@qim/push';
import type { RawData, WebSocket } from 'ws';
import { actingFor, type Identity, refuseSuspended, withDevice } from './authenticate.js';
import { at, type Clock } from './clock.js';
import type { OpenConnections } from './connection-counts.js';
import type { GatewayLimits, GatewayLog, GatewayObserver, GatewayOptions, TokenVerifier } from './contract.js';
import { type Dispatcher, unknownMethod } from './dispatch.js';
import { frameErrorOf } from './error-map.js';
import { type EventEncoder, RESYNC_NEEDED } from './event-encoding.js';
import type { ClientFrame, FrameCodec, FrameId } from './frames.js';
import { isMethodName } from './method.js';
import { unauthenticated } from './tokens.js';
import { TurnWrites } from './turn-writes.js';

/** Of the WebSocket protocol itself: "try again later", which a client takes for a lost link. */
const TRY_AGAIN_LATER = 1013;

export interface ConnectionDeps {
  readonly dispatcher: Dispatcher;
  readonly push: Push;
  readonly verifier: TokenVerifier;
  readonly isSuspended: GatewayOptions['isSuspended'];
  readonly encoder: EventEncoder;
  readonly ackDurability: AckDurability;
  readonly observer: GatewayObserver;
  readonly log: GatewayLog;
  readonly clock: Clock;
  readonly limits: GatewayLimits;
  readonly connections: OpenConnections;
}

export interface Upgrade {
  readonly requestId: string;
  /** From the Authorization header, already checked; undefined: a hello must bring the token. */
  readonly identity: Identity | undefined;
  readonly onBehalfOf: string | undefined;
  /** Of the client, as its calls are counted. */
  readonly address: string;
  /** Called at the first welcome. */
  readonly welcomed: () => void;
  /** Below the WebSocket. */
  readonly stream: Duplex;
}

export class Connection {
  readonly #deps: ConnectionDeps;
  readonly #socket: WebSocket;
  readonly #codec: FrameCodec;
  readonly #upgrade: Upgrade;
  readonly #writes: TurnWrites;
  #identity: Identity | undefined;
  #unsubscribe: (() => void) | undefined;
  /** Events before it are left out: whoever lists after welcome sees them in the list. */
  #welcomed = false;
  /** Resolves when the hellos that came so far are dealt with. */
  #hellos: Promise<void> = Promise.resolve();
  #inFlight = 0;
  #draining = false;
  #closeCode: number | undefined;
  #alive = true;
  #cancelHelloTimeout = () => {};
  #cancelPing = () => {};
  #cancelExpiry = () => {};
  #uncount = () => {};

  constructor(deps: ConnectionDeps, socket: WebSocket, codec: FrameCodec, upgrade: Upgrade) {
    this.#deps = deps;
    this.#socket = socket;
    this.#codec = codec;
    this.#upgrade = upgrade;
    this.#writes = new TurnWrites(upgrade.stream);
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('pong', () => {
      this.#alive = true;
    });
    // ws closes by itself, with a code, on what breaks the protocol below ours.
    socket.on('error', () => {});
    socket.on('close', (code) => this.#closed(code));
    deps.observer.connectionOpened();
    this.#schedulePing();
    if (upgrade.identity === undefined) this.#awaitHello();
    else this.#inOrder(0n, () => this.#admit(0n, upgrade.identity as Identity));
  }

  /** Closes now, or when the last call in flight has its reply. */
  drain(): void {
    this.#draining = true;
    if (this.#inFlight === 0) this.close(CloseCode.ServerStopping, 'the server is stopping');
  }

  close(code: number, reason: string): void {
    if (this.#closeCode !== undefined) return;
    this.#closeCode = code;
    this.#release();
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #awaitHello(): void {
    this.#cancelHelloTimeout = this.#deps.clock.after(this.#deps.limits.helloTimeoutMs, () => {
      this.#sendError(0n, unauthenticated());
      this.close(CloseCode.Unauthenticated, 'no hello in time');
    });
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#closeCode !== undefined) return;
    this.#alive = true;
    // ws hands on one Buffer: its binaryType is left as it is.
    const bytes = data as Buffer;
    const frame = isBinary === this.#codec.binary ? this.#codec.decode(bytes) : undefined;
    if (frame === undefined) {
      this.#sendError(0n, malformed(this.#codec.subprotocol));
      this.close(CloseCode.MalformedFrame, 'malformed frame');
    } else if (bytes.length > CLIENT_FRAME_BYTES_MAX) {
      this.#sendError(frame.id, payloadTooLarge('frame', CLIENT_FRAME_BYTES_MAX));
    } else {
      this.#take(frame);
    }
  }

  #take(frame: ClientFrame): void {
    if (frame.kind === 'unknown') this.#sendError(frame.id, frame.error);
    else if (this.#inFlight >= CALLS_IN_FLIGHT_MAX) {
      this.#sendError(frame.id, resourceLimit('calls in flight per connection', CALLS_IN_FLIGHT_MAX));
    } else if (frame.kind === 'hello') this.#inOrder(frame.id, () => this.#hello(frame));
    else void this.#counted(() => this.#call(frame));
  }

  /** One hello after the other; whatever fails in it ends the connection. */
  #inOrder(id: FrameId, action: () => Promise<void>): void {
    const turn = this.#hellos.then(action).catch((error: unknown) => {
      const known = this.#deps.dispatcher.judged(error, { requestId: this.#upgrade.requestId });
      this.#sendError(id, known);
      if (known.code === 'RateLimited') return this.close(CloseCode.TryLater, 'too many connections');
      const retry = known.code === 'StoreUnavailable' || known.code === 'Internal';
      this.close(retry ? TRY_AGAIN_LATER : CloseCode.Unauthenticated, retry ? 'try again later' : 'hello was refused');
    });
    this.#hellos = turn;
    void this.#counted(() => turn);
  }

  async #counted(action: () => Promise<void>): Promise<void> {
    this.#inFlight++;
    await action();
    this.#inFlight--;
    if (this.#draining && this.#inFlight === 0) this.close(CloseCode.ServerStopping, 'the server is stopping');
  }

  async #hello({ id, token, device }: ClientFrame & { kind: 'hello' }): Promise<void> {
    if (token === '' && this.#identity === undefined) throw unauthenticated();
    // A connection whose token came in a header may say hello without one.
    const identity =
      token === '' && this.#identity !== undefined
        ? this.#identity
        : actingFor(await this.#deps.verifier.verify(token), this.#upgrade.onBehalfOf);
    await this.#admit(id, this.#identity === undefined ? withDevice(identity, device) : this.#renewed(this.#identity, identity));
  }

  /** A renewal brings a later expiry, never another user; the device stays the first one's. */
  #renewed(held: Identity, next: Identity): Identity {
    const { tenantId, userId, deviceId } = held.caller;
    if (next.caller.tenantId !== tenantId || next.caller.userId !== userId) throw unauthenticated();
    return { ...next, caller: { ...next.caller, deviceId } };
  }

  async #admit(id: FrameId, identity: Identity): Promise<void> {
    if (identity.expiresAtMs <= this.#deps.clock.now()) throw expired();
    const first = this.#identity === undefined;
    if (first) {
      this.#uncount = this.#deps.connections.ofUser(identity.caller);
      await this.#subscribe(identity);
    }
    // After subscribing: a suspension from now on comes as an event.
    await refuseSuspended(this.#deps.isSuspended, identity);
    if (this.#closeCode !== undefined) return this.#release();
    this.#identity = identity;
    this.#cancelHelloTimeout();
    this.#cancelExpiry();
    this.#cancelExpiry = at(this.#deps.clock, identity.expiresAtMs, () => {
      this.#sendError(0n, expired());
      this.close(CloseCode.Unauthenticated, 'the token has expired');
    });
    const { tenantId, userId, deviceId } = identity.caller;
    const { ackDurability } = this.#deps;
    const welcome = create(WelcomeSchema, { userId, tenant: BigInt(tenantId), device: deviceId ?? '', ackDurability });
    this.#send(this.#codec.welcome(id, welcome));
    this.#welcomed = true;
    if (first) this.#upgrade.welcomed();
  }

  async #subscribe(identity: Identity): Promise<void> {
    const { tenantId, userId, deviceId } = identity.caller;
    this.#unsubscribe = await this.#deps.push.subscribe({ tenantId, userId, deviceId, deliver: (event) => this.#deliver(event, identity) });
  }

  async #call({ id, method, decode }: ClientFrame & { kind: 'call' }): Promise<void> {
    await this.#hellos;
    try {
      if (!isMethodName(method)) throw unknownMethod();
      const { output, message } = await this.#deps.dispatcher.call({
        name: method,
        requestId: `${this.#upgrade.requestId}.${id}`,
        address: () => this.#upgrade.address,
        identify: () => this.#signedIn(),
        decode,
      });
      this.#send(this.#codec.reply(id, output, message));
    } catch (error) {
      this.#sendError(id, error);
    }
  }

  #signedIn(): Identity {
    if (this.#identity === undefined) throw unauthenticated();
    if (this.#identity.expiresAtMs <= this.#deps.clock.now()) throw expired();
    return this.#identity;
  }

  #deliver(event: PushEvent, identity: Identity): void {
    if (event.kind === 'suspended') {
      this.#suspended(event, identity);
      return;
    }
    // Events were lost, and a suspension may be among them.
    if (event.kind === 'resyncNeeded') void this.#look(identity);
    if (!this.#welcomed || this.#closeCode !== undefined) return;
    try {
      if (this.#send(this.#deps.encoder.frame(event, this.#codec))) this.#deps.observer.eventSent();
    } catch (error) {
      this.#deps.dispatcher.judged(error, { requestId: this.#upgrade.requestId });
      this.#resync();
    }
  }

  #suspended({ deviceId }: Extract<PushEvent, { kind: 'suspended' }>, { caller, actingAdmin }: Identity): void {
    if (actingAdmin !== undefined || (deviceId !== undefined && deviceId !== caller.deviceId)) return;
    this.#sendError(0n, unauthenticated());
    this.close(CloseCode.Unauthenticated, 'suspended');
  }

  async #look(identity: Identity): Promise<void> {
    try {
      await refuseSuspended(this.#deps.isSuspended, identity);
    } catch (error) {
      if (this.#deps.dispatcher.judged(error, { requestId: this.#upgrade.requestId }).code !== 'Unauthenticated') return;
      this.#suspended({ kind: 'suspended', deviceId: undefined }, identity);
    }
  }

  #sendError(id: FrameId, error: unknown): void {
    this.#send(this.#codec.error(id, frameErrorOf(error)));
  }

  /** False: it was not sent. What waits already decides, so that one large reply to a quick reader is no fault. */
  #send(frame: Uint8Array): boolean {
    if (this.#closeCode !== undefined || this.#socket.readyState !== this.#socket.OPEN) return false;
    this.#writes.gather();
    if (this.#socket.bufferedAmount > this.#deps.limits.socketQueueBytesMax) {
      this.#deps.observer.slowConsumer();
      this.#resync();
      return false;
    }
    this.#socket.send(frame, { binary: this.#codec.binary });
    return true;
  }

  #resync(): void {
    this.#socket.send(this.#deps.encoder.frame(RESYNC_NEEDED, this.#codec), { binary: this.#codec.binary });
    this.close(CloseCode.SlowConsumer, 'too slow: list again');
  }

  #schedulePing(): void {
    this.#cancelPing = this.#deps.clock.after(this.#deps.limits.pingIntervalMs, () => {
      if (!this.#alive) return this.#silent();
      this.#alive = false;
      this.#socket.ping();
      this.#schedulePing();
    });
  }

  /** It will hardly answer the close either. */
  #silent(): void {
    this.close(CloseCode.Silent, 'no answer to a ping');
    this.#cancelPing = this.#deps.clock.after(this.#deps.limits.pingIntervalMs, () => this.terminate());
  }

  #release(): void {
    this.#cancelHelloTimeout();
    this.#cancelPing();
    this.#cancelExpiry();
    this.#uncount();
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }

  #closed(code: number): void {
    const first = this.#closeCode === undefined;
    if (first) this.#closeCode = code;
    this.#release();
    this.#deps.observer.connectionClosed(this.#closeCode ?? code);
  }
}

function malformed(subprotocol: string): QimError<'InvalidArgument'> {
  return new QimError('InvalidArgument', { field: 'frame', allowed: `a frame of ${subprotocol}` }, 'malformed frame');
}

function expired(): QimError<'TokenExpired'> {
  return new QimError('TokenExpired', {}, 'the token has expired');
}
