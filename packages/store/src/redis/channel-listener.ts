/**
 * Hears the channels that are wanted, over one link at a time. A lost link is replaced, its channels are subscribed again,
 * and then whoever listens is told what was interrupted: told before, they would look while still deaf.
 *
 * Nothing is opened before the first channel is wanted, and nothing is tried while none is.
 */
import { BUS_PING_INTERVAL_MS, BUS_RETRY_MS_MAX, BUS_RETRY_MS_MIN } from '@qim/proto';
import { afterMs } from '../clock.js';
import { unavailable } from '../errors.js';
import type { ChannelLink, LinkHandlers } from './channel-link.js';

export interface ListenerHandlers {
  message(channel: string, bytes: Buffer): void;
  /** They were heard, then not, and are heard again. */
  interrupted(channels: ReadonlySet<string>): void;
}

export interface ChannelListenerOptions {
  readonly open: (handlers: LinkHandlers) => Promise<ChannelLink>;
  readonly handlers: ListenerHandlers;
  /** How long a subscription may wait for a link that is being made. */
  readonly timeoutMs: number;
  /** How often the link is asked whether it is there; default BUS_PING_INTERVAL_MS. */
  readonly pingMs?: number;
}

export class ChannelListener {
  readonly #open: (handlers: LinkHandlers) => Promise<ChannelLink>;
  readonly #handlers: ListenerHandlers;
  readonly #timeoutMs: number;
  readonly #pingMs: number;
  /** How many want each. */
  readonly #wanted = new Map<string, number>();
  /** Those that the present link hears. */
  readonly #confirmed = new Set<string>();
  /** Those that were heard when the last link was lost. */
  #deaf = new Set<string>();
  #link: ChannelLink | undefined;
  #linking: Promise<ChannelLink> | undefined;
  #callOffPing = (): void => {};
  #callOffRetry = (): void => {};
  #closed = false;

  constructor({ open, handlers, timeoutMs, pingMs = BUS_PING_INTERVAL_MS }: ChannelListenerOptions) {
    this.#open = open;
    this.#handlers = handlers;
    this.#timeoutMs = timeoutMs;
    this.#pingMs = pingMs;
  }

  /** Resolves when the server has confirmed it. The function ends it. @throws StoreUnavailable */
  async subscribe(channel: string): Promise<() => void> {
    this.#wanted.set(channel, (this.#wanted.get(channel) ?? 0) + 1);
    let over = false;
    const release = (): void => {
      if (over) return;
      over = true;
      this.#unwant(channel);
    };
    try {
      await this.#confirm(channel);
      return release;
    } catch (error) {
      release();
      throw error;
    }
  }

  close(): void {
    this.#closed = true;
    this.#callOffPing();
    this.#callOffRetry();
    this.#link?.destroy();
    this.#link = undefined;
    this.#confirmed.clear();
  }

  async #confirm(channel: string): Promise<void> {
    if (this.#confirmed.has(channel)) return;
    const link = await this.#linked();
    // A link that was made meanwhile has subscribed to all that were wanted.
    if (this.#confirmed.has(channel)) return;
    await link.subscribe([channel]);
    if (this.#link !== link) throw unavailable('the events of other processes');
    if (this.#wanted.has(channel)) this.#confirmed.add(channel);
    else link.unsubscribe(channel);
  }

  #unwant(channel: string): void {
    const left = (this.#wanted.get(channel) ?? 1) - 1;
    if (left > 0) {
      this.#wanted.set(channel, left);
      return;
    }
    this.#wanted.delete(channel);
    this.#deaf.delete(channel);
    if (this.#confirmed.delete(channel)) this.#link?.unsubscribe(channel);
  }

  /** The link that is there, or is being made. @throws StoreUnavailable when that takes too long */
  async #linked(): Promise<ChannelLink> {
    if (this.#closed) throw unavailable('the store is closed');
    if (this.#link !== undefined) return this.#link;
    this.#linking ??= this.#makeLink();
    let callOff = (): void => {};
    const late = new Promise<never>((_, reject) => {
      callOff = afterMs(this.#timeoutMs, () => reject(unavailable('the events of other processes')));
    });
    try {
      return await Promise.race([this.#linking, late]);
    } finally {
      callOff();
    }
  }

  /** Tries until it has one; gives up when none is wanted any more. */
  async #makeLink(): Promise<ChannelLink> {
    try {
      for (let failures = 0; !this.#closed && this.#wanted.size > 0; failures += 1) {
        const link = await this.#tryLink();
        if (link !== undefined) return link;
        await this.#pause(Math.min(BUS_RETRY_MS_MAX, BUS_RETRY_MS_MIN * 2 ** Math.min(failures, 30)));
      }
    } finally {
      this.#linking = undefined;
    }
    throw unavailable('the events of other processes');
  }

  async #tryLink(): Promise<ChannelLink | undefined> {
    let link: ChannelLink | undefined;
    let lost = false;
    try {
      link = await this.#open({
        message: (channel, bytes) => this.#handlers.message(channel, bytes),
        lost: () => {
          lost = true;
          this.#lost(link);
        },
      });
      const channels = [...this.#wanted.keys()];
      await link.subscribe(channels);
      if (lost || this.#closed) throw unavailable('the events of other processes');
      this.#link = link;
      for (const channel of channels) {
        if (this.#wanted.has(channel)) this.#confirmed.add(channel);
        else link.unsubscribe(channel);
      }
    } catch {
      link?.destroy();
      return undefined;
    }
    this.#watch(link);
    const again = this.#deaf;
    this.#deaf = new Set();
    if (again.size > 0) this.#handlers.interrupted(again);
    return link;
  }

  #lost(link: ChannelLink | undefined): void {
    if (link === undefined || this.#link !== link) return;
    this.#link = undefined;
    this.#callOffPing();
    for (const channel of this.#confirmed) this.#deaf.add(channel);
    this.#confirmed.clear();
    if (this.#closed || this.#wanted.size === 0) return;
    this.#linking ??= this.#makeLink();
    // Who waits for it hears of a failure; nobody else must.
    this.#linking.catch(() => {});
  }

  #watch(link: ChannelLink): void {
    this.#callOffPing = afterMs(this.#pingMs, () => {
      link.ping();
      if (this.#link === link) this.#watch(link);
    });
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const callOff = afterMs(ms, resolve);
      this.#callOffRetry = () => {
        callOff();
        resolve();
      };
    });
  }
}
