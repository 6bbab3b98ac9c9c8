/**
 * The wire of page reads: one plain socket to Redis, one write for each piece of a round, and replies that are read where they lie.
 *
 * It is a short cut and decides nothing. Whatever it does not expect (no connection, an error reply, another shape) it
 * answers with undefined, and the caller asks the same of the ordinary connection, which knows all cases. Only reads may
 * go over it: they may be asked for twice. It is connected when it is first used, and again after a loss when it is used
 * again; until then it is not there. Not over TLS, and not to a Cluster.
 *
 * Replies are read as they come, while Redis still works on those that follow.
 */
import { connect, type Socket } from 'node:net';
import {
  STORE_COMMANDS_WAITING_MAX,
  STORE_RECONNECT_PAUSE_MS_MAX,
  WIRE_BYTES_MAX,
  WIRE_READ_BYTES,
  WIRE_REQUEST_BYTES,
  WIRE_REQUEST_BYTES_MAX,
  WIRE_SLAB_BYTES,
  WIRE_SPARES_MAX,
} from '@qim/proto';
import { afterMs } from '../clock.js';
import { unavailable } from '../errors.js';
import type { StoreAddress } from './address.js';
import { Replies, ReplyScanner } from './wire-replies.js';
import { encodedCommand, WireRequest } from './wire-request.js';
import { type GroupReader, WireRound } from './wire-round.js';

export interface WireSettings {
  readonly address: StoreAddress;
  /** Shown by CLIENT LIST. */
  readonly name: string;
  readonly timeoutMs: number;
  /** Called once for each round that is sent, however many pieces it has. */
  readonly onRoundTrip: () => void;
}

export class Wire {
  readonly #settings: WireSettings;
  #socket: Socket | undefined;
  #ready = false;
  #closed = false;
  /** After a failed try, for a while. */
  #resting = false;
  #callOffRest = (): void => {};
  readonly #waiting: WireRound[] = [];
  #waitingCommands = 0;
  #slab = Buffer.allocUnsafeSlow(WIRE_SLAB_BYTES);
  #used = 0;
  readonly #scanner = new ReplyScanner();
  readonly #replies = new Replies();
  /** Where the replies begin that are being scanned. */
  #groupStart = 0;
  /** Of pieces that were answered, for the next ones: at most WIRE_SPARES_MAX. */
  readonly #spares: Buffer[] = [];
  /** Takes what comes before the first round. */
  #greeting: ((chunk: string) => void) | undefined;

  constructor(settings: WireSettings) {
    this.#settings = settings;
  }

  /** To be filled for one piece of a round; `bytes`: how many it will take, about. */
  request(bytes: number): WireRequest {
    const spare = this.#spares.pop();
    const fits = spare !== undefined && spare.length >= bytes;
    return new WireRequest(fits ? spare : Buffer.allocUnsafeSlow(Math.max(bytes, WIRE_REQUEST_BYTES)));
  }

  /**
   * What `read` makes of the replies, one value for each group of the request, or undefined: ask elsewhere. `read` runs
   * before anything else may use the bytes, and must keep none of them. Cost: 1, counted where a round `begins`.
   * @throws StoreUnavailable when no answer comes in time
   */
  async round<T>(request: WireRequest, read: GroupReader<T>, begins: boolean): Promise<T[] | undefined> {
    const { commands } = request;
    if (!this.#ready || this.#waitingCommands + commands > STORE_COMMANDS_WAITING_MAX) {
      this.#connect();
      return undefined;
    }
    const socket = this.#socket;
    const made: T[] = [];
    let callOff = (): void => {};
    this.#waitingCommands += commands;
    try {
      const whole = await new Promise<boolean>((resolve, reject) => {
        callOff = afterMs(this.#settings.timeoutMs, () => {
          reject(unavailable('connection', new Error(`no answer in ${this.#settings.timeoutMs} ms`)));
          this.#drop(socket);
        });
        if (begins) this.#settings.onRoundTrip();
        this.#ask(new WireRound(request.groups, (replies, group) => made.push(read(replies, group)), resolve, reject), request);
      });
      // All of it was answered, so all of it was sent.
      const fits = this.#spares.length < WIRE_SPARES_MAX && request.buffer.length <= WIRE_REQUEST_BYTES_MAX;
      if (whole && fits) this.#spares.push(request.buffer);
      return whole ? made : undefined;
    } finally {
      this.#waitingCommands -= commands;
      callOff();
    }
  }

  #ask(round: WireRound, request: WireRequest): void {
    this.#waiting.push(round);
    if (this.#waiting.length === 1) this.#scanNext(0);
    this.#socket?.write(request.bytes);
  }

  /** The next group of replies begins at `at`. */
  #scanNext(at: number): void {
    this.#groupStart = at;
    this.#scanner.begin(this.#waiting[0]?.nextReplies ?? 0, at);
  }

  #connect(): void {
    if (this.#socket !== undefined || this.#closed || this.#resting) return;
    const [{ host, port }] = this.#settings.address.nodes;
    const onread = { buffer: () => this.#free(), callback: (bytes: number) => this.#received(socket, bytes) };
    const socket: Socket = connect({ host, port, noDelay: true, onread });
    this.#socket = socket;
    // What happened is told by `close`.
    socket.on('error', () => {});
    socket.on('close', () => this.#drop(socket));
    socket.on('connect', () => this.#greet(socket));
    // A greeting that nobody answers would keep it from ever being tried again.
    this.#callOffRest = afterMs(this.#settings.timeoutMs, () => {
      if (!this.#ready) this.#drop(socket);
    });
  }

  /** A server that others have made a replica would answer from the past: only a primary is taken. */
  #greet(socket: Socket): void {
    const { username, password, database } = this.#settings.address;
    const commands = [
      ...(password === undefined ? [] : [['AUTH', ...(username === undefined ? [] : [username]), password]]),
      ['CLIENT', 'SETNAME', this.#settings.name],
      ['SELECT', String(database)],
      ['INFO', 'replication'],
    ];
    const simple = commands.length - 1;
    let read = '';
    this.#greeting = (chunk) => {
      read += chunk;
      const failed = /^-/m.test(read.slice(0, 1)) || read.includes('\r\n-');
      const whole = read.endsWith('\r\n') && read.includes('role:');
      if (failed || (whole && !(read.includes('role:master') && read.startsWith('+OK\r\n'.repeat(simple))))) this.#drop(socket);
      else if (whole) {
        this.#greeting = undefined;
        this.#callOffRest();
        this.#ready = true;
      }
    };
    socket.write(Buffer.concat(commands.map(encodedCommand)));
  }

  /** Where the next bytes go: behind those that are there. */
  #free(): Buffer {
    if (this.#used === this.#slab.length) {
      const longer = Buffer.allocUnsafeSlow(2 * this.#slab.length);
      this.#slab.copy(longer);
      this.#slab = longer;
    }
    return this.#slab.subarray(this.#used, this.#used + WIRE_READ_BYTES);
  }

  #received(socket: Socket, bytes: number): boolean {
    if (socket !== this.#socket) return false;
    if (this.#greeting !== undefined) {
      this.#greeting(this.#slab.toString('latin1', 0, bytes));
      return true;
    }
    this.#used += bytes;
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const state = this.#scanner.scan(this.#slab, this.#used);
      if (state === 'more' && this.#used - this.#groupStart < WIRE_BYTES_MAX) {
        this.#makeRoom();
        return true;
      }
      if (state !== 'whole') break;
      first.take(this.#replies.of(this.#slab, this.#scanner));
      if (first.isOver) this.#waiting.shift();
      this.#scanNext(this.#scanner.end);
      if (first.isOver) first.settle();
    }
    // What nobody waits for, or what is not understood: the place in the stream is lost.
    if (this.#used > this.#groupStart) this.#drop(socket);
    this.#makeRoom();
    return true;
  }

  /** Takes what was read away: at once where nothing lies behind it, else when it is as much as is read at once. */
  #makeRoom(): void {
    const start = this.#groupStart;
    const rest = this.#used - start;
    if (start === 0 || (rest > 0 && start < WIRE_READ_BYTES)) return;
    if (this.#slab.length > WIRE_SLAB_BYTES && rest <= WIRE_SLAB_BYTES / 2) {
      const shorter = Buffer.allocUnsafeSlow(WIRE_SLAB_BYTES);
      this.#slab.copy(shorter, 0, start, this.#used);
      this.#slab = shorter;
    } else if (rest > 0) this.#slab.copyWithin(0, start, this.#used);
    this.#used = rest;
    this.#scanNext(0);
  }

  #drop(socket: Socket | undefined): void {
    if (socket === undefined || this.#socket !== socket) return;
    this.#socket = undefined;
    this.#ready = false;
    this.#greeting = undefined;
    this.#used = 0;
    this.#groupStart = 0;
    this.#callOffRest();
    socket.destroy();
    if (!this.#closed) {
      this.#resting = true;
      this.#callOffRest = afterMs(STORE_RECONNECT_PAUSE_MS_MAX, () => {
        this.#resting = false;
      });
    }
    for (const round of this.#waiting.splice(0)) round.lose();
  }

  close(): void {
    this.#closed = true;
    this.#drop(this.#socket);
    this.#callOffRest();
  }
}
