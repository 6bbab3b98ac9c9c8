/** One connection that listens to sharded channels. It lives once: when it is lost it is over, and says so once. */

import { afterMs } from '../clock.js';
import { unavailable } from '../errors.js';
import { type Client, type ConnectionSettings, makeClient } from './node-connection.js';

export interface LinkHandlers {
  message(channel: string, bytes: Buffer): void;
  /** It hears nothing more. */
  lost(): void;
}

export interface ChannelLink {
  /** Resolves when the server has confirmed all of them; one command each, because their slots differ. @throws StoreUnavailable */
  subscribe(channels: readonly string[]): Promise<void>;
  unsubscribe(channel: string): void;
  /** Asks whether the server is there; no answer in time is a loss. */
  ping(): void;
  /** Ends it without a word. */
  destroy(): void;
}

/** @throws StoreUnavailable */
export async function openChannelLink(settings: ConnectionSettings, handlers: LinkHandlers): Promise<ChannelLink> {
  const client = makeClient(settings, () => false);
  const link = new NodeChannelLink(client, settings.timeoutMs, handlers);
  await link.connect();
  return link;
}

class NodeChannelLink implements ChannelLink {
  readonly #client: Client;
  readonly #timeoutMs: number;
  readonly #handlers: LinkHandlers;
  #over = false;

  constructor(client: Client, timeoutMs: number, handlers: LinkHandlers) {
    this.#client = client;
    this.#timeoutMs = timeoutMs;
    this.#handlers = handlers;
    client.on('error', () => this.#lose());
    client.on('end', () => this.#lose());
    // A Cluster moved the channel's slot to another node: this connection hears nothing of it any more.
    client.on('sharded-channel-moved', () => this.#lose());
  }

  async connect(): Promise<void> {
    await this.#answered(this.#client.connect());
  }

  async subscribe(channels: readonly string[]): Promise<void> {
    await this.#answered(Promise.all(channels.map((channel) => this.#client.sSubscribe(channel, this.#hear, true))));
  }

  unsubscribe(channel: string): void {
    // With the listener: without it the client takes a subscription that follows at once for one that is there.
    if (!this.#over) this.#client.sUnsubscribe(channel, this.#hear, true).catch(() => this.#lose());
  }

  ping(): void {
    if (!this.#over) this.#answered(this.#client.ping()).catch(() => {});
  }

  destroy(): void {
    this.#over = true;
    this.#client.destroy();
  }

  readonly #hear = (bytes: Buffer, channel: Buffer): void => {
    if (!this.#over) this.#handlers.message(channel.toString(), bytes);
  };

  /** What fails or takes too long is a loss of the whole. @throws StoreUnavailable */
  async #answered(work: Promise<unknown>): Promise<void> {
    let callOff = (): void => {};
    const late = new Promise<never>((_, reject) => {
      callOff = afterMs(this.#timeoutMs, () => reject(new Error(`no answer in ${this.#timeoutMs} ms`)));
    });
    try {
      await Promise.race([work, late]);
    } catch (error) {
      this.#lose();
      throw unavailable('the events of other processes', error);
    } finally {
      callOff();
    }
  }

  #lose(): void {
    if (this.#over) return;
    this.destroy();
    this.#handlers.lost();
  }
}
