/**
 * The wire of page reads: one plain socket to Redis, one write for each round, and replies that are read where they lie.
 *
 * It is a short cut and decides nothing. Whatever it does not expect (no connection, an error reply, another shape) it
 * answers with undefined, and the caller asks the same of the ordinary connection, which knows all cases. Only reads may
 * go over it: they may be asked for twice. It is connected when it is first used, and again after a loss when it is used
 * again; until then it is not there. Not over TLS, and not to a Cluster.
 */
import { connect, type Socket } from 'node:net';
import { STORE_COMMANDS_WAITING_MAX, STORE_RECONNECT_PAUSE_MS_MAX, WIRE_BYTES_MAX, WIRE_SLAB_BYTES } from '@qim/proto';
import { afterMs } from '../clock.js';
import { unavailable } from '../errors.js';
import type { StoreAddress } from './address.js';
import { Replies, ReplyScanner, UnexpectedReply } from './wire-replies.js';
import { encodedCommand, type WireRequest } from './wire-request.js';

export interface WireSettings {
  readonly address: StoreAddress;
  /** Shown by CLIENT LIST. */
  readonly name: string;
  readonly timeoutMs: number;
  /** Called once for each round that is sent. */
  readonly onRoundTrip: () => void;
}

interface Waiting {
  readonly commands: number;
  /** Undefined: no answer will come, or not the one that was expected. */
  readonly settle: (replies: Replies | undefined) => void;
}

export class Wire {
  readonly #settings: WireSettings;
  #socket: Socket | undefined;
  #ready = false;
  #closed = false;
  /** After a failed try, for a while. */
  #resting = false;
  #callOffRest = (): void => {};
  readonly #waiting: Waiting[] = [];
  #waitingCommands = 0;
  #slab = Buffer.allocUnsafeSlow(WIRE_SLAB_BYTES);
  #used = 0;
  readonly #scanner = new ReplyScanner();
  /** Takes what comes before the first round. */
  #greeting: ((chunk: string) => void) | undefined;

  constructor(settings: WireSettings) {
    this.#settings = settings;
  }

  /**
   * What `read` makes of the replies, or undefined: ask elsewhere. `read` runs before anything else may use the bytes, and
   * must keep none of them. Cost: 1. @throws StoreUnavailable when no answer comes in time
   */
  async round<T>({ bytes, commands }: WireRequest, read: (replies: Replies) => T): Promise<T | undefined> {
    if (!this.#ready || this.#waitingCommands + commands > STORE_COMMANDS_WAITING_MAX) {
      this.#connect();
      return undefined;
    }
    const socket = this.#socket;
    let callOff = (): void => {};
    try {
      return await new Promise<T | undefined>((resolve, reject) => {
        callOff = afterMs(this.#settings.timeoutMs, () => {
          reject(unavailable('connection', new Error(`no answer in ${this.#settings.timeoutMs} ms`)));
          this.#drop(socket);
        });
        this.#ask(bytes, commands, (replies) => resolve(replies && readOrNothing(replies, read)), reject);
      });
    } finally {
      callOff();
    }
  }

  #ask(bytes: Buffer, commands: number, settle: Waiting['settle'], fail: (error: unknown) => void): void {
    this.#settings.onRoundTrip();
    this.#waitingCommands += commands;
    if (this.#waiting.length === 0) this.#scanner.begin(commands);
    this.#waiting.push({
      commands,
      settle: (replies) => {
        this.#waitingCommands -= commands;
        try {
          settle(replies);
        } catch (error) {
          fail(error);
        }
      },
    });
    this.#socket?.write(bytes);
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
    return this.#slab.subarray(this.#used);
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
      if (state === 'more' && this.#used < WIRE_BYTES_MAX) return true;
      if (state !== 'whole') break;
      this.#waiting.shift();
      first.settle(new Replies(this.#slab, this.#scanner));
      this.#keepRest();
      this.#scanner.begin(this.#waiting[0]?.commands ?? 0);
    }
    // What nobody waits for, or what is not understood: the place in the stream is lost.
    if (this.#used > 0) this.#drop(socket);
    return true;
  }

  #keepRest(): void {
    const { end } = this.#scanner;
    const rest = this.#used - end;
    if (rest > 0) this.#slab.copyWithin(0, end, this.#used);
    else if (this.#slab.length > WIRE_SLAB_BYTES) this.#slab = Buffer.allocUnsafeSlow(WIRE_SLAB_BYTES);
    this.#used = rest;
  }

  #drop(socket: Socket | undefined): void {
    if (socket === undefined || this.#socket !== socket) return;
    this.#socket = undefined;
    this.#ready = false;
    this.#greeting = undefined;
    this.#used = 0;
    this.#callOffRest();
    socket.destroy();
    if (!this.#closed) {
      this.#resting = true;
      this.#callOffRest = afterMs(STORE_RECONNECT_PAUSE_MS_MAX, () => {
        this.#resting = false;
      });
    }
    for (const { settle } of this.#waiting.splice(0)) settle(undefined);
  }

  close(): void {
    this.#closed = true;
    this.#drop(this.#socket);
    this.#callOffRest();
  }
}

function readOrNothing<T>(replies: Replies, read: (replies: Replies) => T): T | undefined {
  try {
    const result = read(replies);
    replies.done();
    return result;
  } catch (error) {
    if (error instanceof UnexpectedReply) return undefined;
    throw error;
  }
}
