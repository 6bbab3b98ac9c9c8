/** The consumer group of each outbox stream. It starts at id 0, so that nothing committed before it is passed over. */
import type { Command, RedisConnection } from './connection.js';

export const OUTBOX_GROUP = 'push';

/** Makes the groups, and the streams, that are not there. Cost: 1. @throws StoreUnavailable */
export async function createGroups(connection: RedisConnection, streams: readonly string[]): Promise<void> {
  await connection.pipeline(streams.map((stream): Command => ['XGROUP', 'CREATE', stream, OUTBOX_GROUP, '0', 'MKSTREAM']));
}
