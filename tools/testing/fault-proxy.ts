/**
 * A TCP proxy whose link a test makes slow, silent or broken: between SDK and server, or between server and Redis.
 *
 * Bytes are never changed, doubled or reordered, as on real TCP; they are late, or they are lost together with the link.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { type Break, type Condition, type Direction, type Interception, Link, type LinkState } from './fault-link.js';

export type { Break, Condition, Direction, Interception } from './fault-link.js';

/** Breaks the link on which the count is reached, exactly there: nothing after it passes. */
export interface Trip {
  readonly direction: Direction;
  /** Of all links together, from now on. `frames`: whole WebSocket frames, the upgrade not among them. */
  readonly after: { readonly bytes: number } | { readonly frames: number };
  readonly by: Break;
}

export interface FaultProxyOptions {
  /** Where the server listens on loopback. */
  readonly port: number;
  /** For jitter; 0 <= x < 1. Default: Math.random. */
  readonly random?: () => number;
  /** Gets what clients send in place of the server, chunk by chunk, in order on each link. */
  readonly intercept?: Interception;
}

export class FaultProxy implements LinkState {
  readonly random: () => number;
  readonly intercept: Interception | undefined;
  condition: Condition = { kind: 'sound' };
  trip: { readonly direction: Direction; readonly by: Break; left: number; readonly unit: 'bytes' | 'frames' } | undefined;
  readonly #server: Server;
  readonly #links = new Set<Link>();
  #target: number;
  #tripped: (() => void) | undefined;

  private constructor({ port, random = Math.random, intercept }: FaultProxyOptions, server: Server) {
    this.#target = port;
    this.random = random;
    this.intercept = intercept;
    this.#server = server;
  }

  /** Listens on a free port of loopback. */
  static async open(options: FaultProxyOptions): Promise<FaultProxy> {
    // Half-open ends are closed by the link, once all that came before is on its way.
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    const proxy = new FaultProxy(options, server);
    server.on('connection', (client) => {
      if (proxy.condition.kind === 'refuse') client.resetAndDestroy();
      else proxy.#take(new Link(client, proxy.#target, proxy));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address !== 'object') throw new Error('the proxy is closed');
    return address.port;
  }

  /** Links of which at least one end is open. */
  get links(): number {
    return this.#links.size;
  }

  /** New links go there: a server that was started again may have another port. */
  retarget(port: number): void {
    this.#target = port;
  }

  become(condition: Condition): void {
    this.condition = condition;
    for (const link of this.#links) link.conditionChanged();
  }

  /** Every open link; new ones are as the condition says. The number of links broken. */
  break(how: Break): number {
    const open = [...this.#links].filter((link) => !link.broken);
    for (const link of open) link.break(how);
    return open.length;
  }

  /** Sound again; ends that were left half open learn of it by a reset. */
  heal(): void {
    this.trip = undefined;
    this.become({ kind: 'sound' });
    for (const link of this.#links) if (link.broken) link.end();
  }

  /** Resolves when it has happened. One at a time: another one replaces it. */
  async tripAt({ direction, after, by }: Trip): Promise<void> {
    const unit = 'bytes' in after ? 'bytes' : 'frames';
    this.trip = { direction, by, unit, left: 'bytes' in after ? after.bytes : after.frames };
    await new Promise<void>((resolve) => {
      this.#tripped = resolve;
    });
  }

  tripped(): void {
    this.trip = undefined;
    this.#tripped?.();
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const link of this.#links) link.end();
    await closed;
  }

  #take(link: Link): void {
    this.#links.add(link);
    link.whenGone(() => this.#links.delete(link));
  }
}
