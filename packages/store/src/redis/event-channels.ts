/** The channels that events travel on, one for each commit partition. Which users are on which, for ever. */
import { assert, type TenantId, type UserId } from '@qim/proto';
import { utf8, viewOf } from '../message/bytes.js';
import { xxh32 } from '../message/xxh32.js';
import { eventChannel } from './keys.js';
import { partitionTags } from './partitions.js';

export class EventChannels {
  readonly #channels: readonly string[];

  /** `count`: the commit partitions of the deployment. */
  constructor(count: number, database: number) {
    this.#channels = partitionTags(count).map((tag) => eventChannel(tag, database));
  }

  of(tenantId: TenantId, userId: UserId): string {
    const bytes = utf8.encode(`${tenantId}:${userId}`);
    const channel = this.#channels[xxh32(viewOf(bytes), 0, bytes.length, 0) % this.#channels.length];
    assert(channel !== undefined, 'every user has a channel');
    return channel;
  }
}
