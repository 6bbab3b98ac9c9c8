/** One connection through a FaultProxy: two pipes, each of which keeps its order. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { WebSocketFrames } from './websocket-frames.js';

/** up: from the client to the server. */
export type Direction = 'up' | 'down';

/** What a link does from now on, open ones and new ones, until told otherwise. */
export type Condition =
  | { readonly kind: 'sound' }
  /** Each chunk arrives so much later, in order; `bytesPerSecond`: and no faster than that, in each direction. */
  | { readonly kind: 'slow'; readonly latencyMs: number; readonly jitterMs?: number; readonly bytesPerSecond?: number }
  /** Nothing passes and nothing is closed, as behind a firewall that drops; what was sent meanwhile comes when it ends. */
  | { readonly kind: 'blackHole' }
  /** New connections are reset at once; open ones are as they were. */
  | { readonly kind: 'refuse' };

/**
 * How an open link breaks. cut: closed in order. reset: RST to both ends. halfOpen: one end is reset and the other is not
 * told: whatever it sends is swallowed, until `heal`, when it is reset as a host that came back would do it.
 */
export type Break = 'cut' | 'reset' | 'serverGone' | 'clientGone';

/** What an interception may do with a chunk; forwarding nothing swallows it. */
export interface Interceptable {
  forward(bytes: Buffer): void;
  /** The next thing that the server sends. */
  answered(): Promise<unknown>;
}

export type Interception = (chunk: Buffer, link: Interceptable) => Promise<void>;

export interface LinkState {
  readonly random: () => number;
  readonly intercept: Interception | undefined;
  readonly condition: Condition;
  readonly trip: { readonly direction: Direction; readonly by: Break; left: number; readonly unit: 'bytes' | 'frames' } | undefined;
  tripped(): void;
}

/** Bytes that one pipe holds before it stops reading: the rest waits in the kernel, as on a real link. */
const PIPE_BYTES_MAX = 256 * 1024;

export class Link {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #pipes: readonly Pipe[];
  #broken = false;

  constructor(client: Socket, targetPort: number, state: LinkState) {
    this.#client = client;
    this.#server = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    const break_ = (how: Break): void => this.break(how);
    const up = new Pipe('up', client, this.#server, state, break_);
    const down = new Pipe('down', this.#server, client, state, break_);
    this.#pipes = [up, down];
    for (const [socket, other] of this.#ends()) {
      // A reset travels on, as does a refused connection.
      socket.on('error', () => {
        if (!this.#broken) reset(other);
      });
      socket.on('close', () => {
        if (!this.#broken) other.destroySoon();
      });
    }
  }

  /** No longer one connection from end to end. */
  get broken(): boolean {
    return this.#broken;
  }

  whenGone(gone: () => void): void {
    for (const [socket, other] of this.#ends()) {
      socket.once('close', () => {
        if (other.closed) gone();
      });
    }
  }

  conditionChanged(): void {
    for (const pipe of this.#pipes) pipe.look();
  }

  break(how: Break): void {
    if (this.#broken) return;
    this.#broken = true;
    for (const pipe of this.#pipes) pipe.swallow();
    if (how === 'cut') for (const [socket] of this.#ends()) socket.destroySoon();
    if (how === 'reset' || how === 'serverGone') reset(this.#server);
    if (how === 'reset' || how === 'clientGone') reset(this.#client);
  }

  /** Both ends, whatever they believe. */
  end(): void {
    this.#broken = true;
    for (const [socket] of this.#ends()) reset(socket);
  }

  #ends(): readonly (readonly [Socket, Socket])[] {
    return [
      [this.#client, this.#server],
      [this.#server, this.#client],
    ];
  }
}

class Pipe {
  readonly #direction: Direction;
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #state: LinkState;
  readonly #break: (how: Break) => void;
  readonly #frames = new WebSocketFrames();
  readonly #waiting: { readonly chunk: Buffer; readonly dueAtMs: number }[] = [];
  #waitingBytes = 0;
  #busy = false;
  #ended = false;
  #swallowing = false;
  #lastDueAtMs = 0;

  constructor(direction: Direction, from: Socket, to: Socket, state: LinkState, break_: (how: Break) => void) {
    this.#direction = direction;
    this.#from = from;
    this.#to = to;
    this.#state = state;
    this.#break = break_;
    from.on('data', (chunk: Buffer) => this.#received(chunk));
    from.on('end', () => {
      this.#ended = true;
      this.look();
    });
  }

  swallow(): void {
    this.#swallowing = true;
    this.#waiting.length = 0;
    this.#from.resume();
  }

  /** Goes on with what waits, when it may. */
  look(): void {
    if (!this.#busy) void this.#pass();
  }

  #received(chunk: Buffer): void {
    if (this.#swallowing) return;
    this.#waiting.push({ chunk, dueAtMs: this.#dueAtMs(chunk.length) });
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes >= PIPE_BYTES_MAX) this.#from.pause();
    this.look();
  }

  #dueAtMs(bytes: number): number {
    const { condition, random } = this.#state;
    if (condition.kind !== 'slow') return 0;
    const { latencyMs, jitterMs = 0, bytesPerSecond } = condition;
    const due = Math.max(this.#lastDueAtMs, performance.now() + latencyMs + jitterMs * random());
    this.#lastDueAtMs = due + (bytesPerSecond === undefined ? 0 : (bytes / bytesPerSecond) * 1000);
    return this.#lastDueAtMs;
  }

  async #pass(): Promise<void> {
    this.#busy = true;
    while (this.#state.condition.kind !== 'blackHole' && !this.#swallowing) {
      const next = this.#waiting[0];
      if (next === undefined) break;
      const waitMs = next.dueAtMs - performance.now();
      // It is looked at again afterwards: the condition may have changed meanwhile.
      if (waitMs > 0) await pause(waitMs);
      else {
        this.#waiting.shift();
        this.#waitingBytes -= next.chunk.length;
        await this.#forward(next.chunk);
        if (this.#waitingBytes < PIPE_BYTES_MAX) this.#from.resume();
      }
    }
    this.#busy = false;
    const passed = this.#waiting.length === 0 && !this.#swallowing;
    if (passed && this.#ended && this.#state.condition.kind !== 'blackHole') this.#to.end();
  }

  async #forward(chunk: Buffer): Promise<void> {
    const { intercept } = this.#state;
    if (this.#direction === 'down' || intercept === undefined) return this.#write(chunk);
    await intercept(chunk, { forward: (bytes) => void this.#write(bytes), answered: () => once(this.#to, 'data') });
  }

  async #write(chunk: Buffer): Promise<void> {
    const breakAt = this.#breakAt(chunk);
    if (!this.#to.writable) return;
    const kept = breakAt === undefined ? chunk : chunk.subarray(0, breakAt.bytes);
    const flushed = this.#to.write(kept);
    if (breakAt !== undefined) {
      // What is to pass has to be on its way before the link breaks: a reset drops what waits.
      await new Promise((resolve) => this.#to.write('', resolve));
      this.#break(breakAt.by);
      this.#state.tripped();
    } else if (!flushed) await drained(this.#to);
  }

  /** Of this chunk so many bytes pass before the link breaks. */
  #breakAt(chunk: Buffer): { readonly bytes: number; readonly by: Break } | undefined {
    const ends = this.#frames.endsIn(chunk);
    const { trip } = this.#state;
    if (trip === undefined || trip.direction !== this.#direction) return undefined;
    const passing = trip.unit === 'bytes' ? chunk.length : ends.length;
    if (passing < trip.left) {
      trip.left -= passing;
      return undefined;
    }
    return { bytes: trip.unit === 'bytes' ? trip.left : (ends[trip.left - 1] ?? 0), by: trip.by };
  }
}

/** Socket.resetAndDestroy would say FIN before it, and which of the two the other end sees is then a matter of luck. */
function reset(socket: Socket): void {
  Reflect.set(socket, 'resetAndClosing', true);
  socket.destroy();
}

/** Resolves when it takes more, or is gone. */
async function drained(socket: Socket): Promise<void> {
  const waited = new AbortController();
  const either = ['drain', 'close'].map((event) => once(socket, event, { signal: waited.signal }));
  // One that broke says so by an error first; the link's own listeners deal with it.
  await Promise.race(either).catch(() => undefined);
  waited.abort();
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
