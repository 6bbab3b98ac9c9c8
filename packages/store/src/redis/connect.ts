/** The way in: the connection that an address asks for. */
import { invalidArgument } from '@qim/proto';
import type { RedisConnection } from './connection.js';
import { type ConnectionSettings, NodeConnection } from './node-connection.js';

/**
 * @throws StoreUnavailable when the first try fails; later losses are mended in the background. InvalidArgument (field
 * `store`): the address is one of a Cluster
 */
export async function openConnection(settings: ConnectionSettings): Promise<RedisConnection> {
  if (settings.address.cluster) throw invalidArgument('store', 'a single Redis');
  return NodeConnection.open(settings);
}
