/** The way in: the connection that an address asks for. */
import { ClusterConnection } from './cluster-connection.js';
import type { RedisConnection } from './connection.js';
import { type ConnectionSettings, NodeConnection } from './node-connection.js';

/** @throws StoreUnavailable when the first try fails; later losses are mended in the background */
export function openConnection(settings: ConnectionSettings): Promise<RedisConnection> {
  return settings.address.cluster ? ClusterConnection.open(settings) : NodeConnection.open(settings);
}
