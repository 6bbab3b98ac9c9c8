/**
 * The bus on Redis: sharded pub/sub. Each commit partition's tag is that of one channel too, so that on a Cluster the
 * channels lie on all primaries; a user belongs to one of them for ever. Which channels a process listens to follows from
 * the users that are connected to it.
 */
import {
  assert,
  BUS_PAYLOAD_BYTES_MAX,
  BUS_PUBLISH_BYTES_AT_ONCE,
  BUS_USERS_PER_MESSAGE_MAX,
  type TenantId,
  type UserId,
} from '@qim/proto';
import type { Bus, BusEvent, BusLink, BusListener } from '../bus/bus.js';
import { decodeEnvelope, encodeEnvelope, encodeHead, encodeOrigin, isFrom } from '../bus/envelope.js';
import type { ChannelListener, ListenerHandlers } from './channel-listener.js';
import type { Command, RedisConnection } from './connection.js';
import type { EventChannels } from './event-channels.js';

/** What goes to one channel for one list of users. */
interface Part {
  readonly channel: string;
  readonly head: Uint8Array;
}

export interface RedisBusOptions {
  readonly connection: Pick<RedisConnection, 'pipeline'>;
  readonly channels: EventChannels;
  /** Makes what hears the channels; it opens nothing before it must. */
  readonly listener: (handlers: ListenerHandlers) => Pick<ChannelListener, 'subscribe' | 'close'>;
}

export class RedisBus implements Bus {
  readonly #options: RedisBusOptions;
  readonly #links = new Set<BusLink>();

  constructor(options: RedisBusOptions) {
    this.#options = options;
  }

  connect(processId: string, listener: BusListener): BusLink {
    const link = new RedisBusLink(this.#options, processId, listener);
    this.#links.add(link);
    return link;
  }

  close(): void {
    for (const link of this.#links) link.close();
    this.#links.clear();
  }
}

class RedisBusLink implements BusLink {
  readonly alone = false;
  readonly #options: RedisBusOptions;
  readonly #processId: string;
  readonly #origin: Uint8Array;
  readonly #listener: BusListener;
  readonly #hearing: Pick<ChannelListener, 'subscribe' | 'close'>;
  /** By list of users: a group's messages go to the same ones again and again. */
  readonly #parts = new WeakMap<readonly UserId[], readonly Part[]>();
  #closed = false;

  constructor(options: RedisBusOptions, processId: string, listener: BusListener) {
    this.#options = options;
    this.#processId = processId;
    this.#origin = encodeOrigin(processId);
    this.#listener = listener;
    this.#hearing = options.listener({
      message: (_, bytes) => this.#heard(bytes),
      interrupted: (channels) => {
        if (!this.#closed) listener.interrupted((tenantId, userId) => channels.has(options.channels.of(tenantId, userId)));
      },
    });
  }

  async publish(events: readonly BusEvent[]): Promise<void> {
    let commands: Command[] = [];
    let bytes = 0;
    for (const event of events) {
      assert(event.payload.length <= BUS_PAYLOAD_BYTES_MAX, 'an event fits its bound');
      for (const { channel, head } of this.#partsOf(event)) {
        const message = encodeEnvelope(head, event.payload);
        if (bytes > 0 && bytes + message.length > BUS_PUBLISH_BYTES_AT_ONCE) {
          await this.#options.connection.pipeline(commands);
          [commands, bytes] = [[], 0];
        }
        commands.push(['SPUBLISH', channel, message]);
        bytes += message.length;
      }
    }
    if (commands.length > 0) await this.#options.connection.pipeline(commands);
  }

  subscribe(tenantId: TenantId, userId: UserId): Promise<() => void> {
    return this.#hearing.subscribe(this.#options.channels.of(tenantId, userId));
  }

  close(): void {
    this.#closed = true;
    this.#hearing.close();
  }

  #partsOf({ tenantId, userIds }: BusEvent): readonly Part[] {
    let parts = this.#parts.get(userIds);
    if (parts === undefined) {
      parts = this.#splitUp(tenantId, userIds);
      this.#parts.set(userIds, parts);
    }
    return parts;
  }

  #splitUp(tenantId: TenantId, userIds: readonly UserId[]): Part[] {
    const byChannel = new Map<string, UserId[]>();
    for (const userId of userIds) {
      const channel = this.#options.channels.of(tenantId, userId);
      const users = byChannel.get(channel);
      if (users === undefined) byChannel.set(channel, [userId]);
      else users.push(userId);
    }
    const parts: Part[] = [];
    for (const [channel, users] of byChannel) {
      for (let from = 0; from < users.length; from += BUS_USERS_PER_MESSAGE_MAX) {
        const some = users.slice(from, from + BUS_USERS_PER_MESSAGE_MAX);
        parts.push({ channel, head: encodeHead(this.#processId, tenantId, some) });
      }
    }
    return parts;
  }

  #heard(bytes: Uint8Array): void {
    // Redis hands back what this process has published: its devices have it, so it is not even decoded.
    if (this.#closed || isFrom(this.#origin, bytes)) return;
    const envelope = decodeEnvelope(bytes);
    if (envelope === undefined) this.#listener.malformed();
    else this.#listener.received(envelope);
  }
}
