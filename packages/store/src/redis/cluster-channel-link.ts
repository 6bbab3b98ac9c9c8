/**
 * Listens to sharded channels of a Cluster: one connection to each primary that has some of them. As one link: when one of
 * its connections is lost, or a channel's slot moves, the whole is over, and the next link begins with who serves what then.
 */
import { unavailable } from '../errors.js';
import type { NodeAddress } from './address.js';
import { nodeName } from './address.js';
import { type ChannelLink, type LinkHandlers, openChannelLink } from './channel-link.js';
import type { RedisConnection } from './connection.js';
import type { ConnectionSettings } from './node-connection.js';

/** `connection`: who knows where a channel lies. @throws StoreUnavailable */
export async function openClusterChannelLink(
  connection: Pick<RedisConnection, 'look' | 'home'>,
  settings: ConnectionSettings,
  handlers: LinkHandlers,
): Promise<ChannelLink> {
  await connection.look();
  return new ClusterChannelLink(connection, settings, handlers);
}

class ClusterChannelLink implements ChannelLink {
  readonly #connection: Pick<RedisConnection, 'home'>;
  readonly #settings: ConnectionSettings;
  readonly #handlers: LinkHandlers;
  /** By the names of their nodes. */
  readonly #links = new Map<string, Promise<ChannelLink>>();
  /** Which link hears a channel. */
  readonly #hearers = new Map<string, ChannelLink>();
  #over = false;

  constructor(connection: Pick<RedisConnection, 'home'>, settings: ConnectionSettings, handlers: LinkHandlers) {
    this.#connection = connection;
    this.#settings = settings;
    this.#handlers = handlers;
  }

  async subscribe(channels: readonly string[]): Promise<void> {
    const byNode = new Map<string, { readonly node: NodeAddress; readonly channels: string[] }>();
    for (const channel of channels) {
      const node = this.#connection.home(channel);
      if (node === undefined) throw unavailable('nobody serves the slot of a channel');
      const group = byNode.get(nodeName(node));
      if (group === undefined) byNode.set(nodeName(node), { node, channels: [channel] });
      else group.channels.push(channel);
    }
    await Promise.all([...byNode.values()].map((group) => this.#subscribeAt(group.node, group.channels)));
  }

  async #subscribeAt(node: NodeAddress, channels: readonly string[]): Promise<void> {
    const link = await this.#linkTo(node);
    await link.subscribe(channels);
    for (const channel of channels) this.#hearers.set(channel, link);
  }

  unsubscribe(channel: string): void {
    this.#hearers.get(channel)?.unsubscribe(channel);
    this.#hearers.delete(channel);
  }

  ping(): void {
    this.#each((link) => link.ping());
  }

  destroy(): void {
    this.#over = true;
    this.#each((link) => link.destroy());
  }

  #linkTo(node: NodeAddress): Promise<ChannelLink> {
    const name = nodeName(node);
    const known = this.#links.get(name);
    if (known !== undefined) return known;
    const opening = openChannelLink(
      { ...this.#settings, address: { ...this.#settings.address, nodes: [node] } },
      { message: (channel, bytes) => this.#handlers.message(channel, bytes), lost: () => this.#lose() },
    );
    this.#links.set(name, opening);
    // One that was opened when all was over already.
    opening.then((link) => this.#over && link.destroy()).catch(() => this.#lose());
    return opening;
  }

  #lose(): void {
    if (this.#over) return;
    this.destroy();
    this.#handlers.lost();
  }

  #each(act: (link: ChannelLink) => void): void {
    for (const opening of this.#links.values()) void opening.then(act).catch(() => {});
  }
}
