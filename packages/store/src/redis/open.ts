/**
 * Opens a store on Redis 7.0 or later, or on a Redis Cluster of such; the forms of its URL are in address.ts.
 *
 * Everything goes over one connection, but for pages of the list, which have a wire of their own (wire.ts) once there was
 * one. The outbox opens one more when it is read from, because it waits there, and the bus
 * one when it is first subscribed to, because a connection that listens does nothing else.
 */
import { ACK_REPLICAS_MAX, ACK_REPLICAS_WAIT_MS, invalidArgument, STORE_COMMAND_TIMEOUT_MS } from '@qim/proto';
import { systemNow } from '../clock.js';
import type { Store, StoreOptions } from '../store.js';
import { describeAddress, parseAddress, type StoreAddress } from './address.js';
import { RedisBus } from './bus.js';
import { type LinkHandlers, openChannelLink } from './channel-link.js';
import { ChannelListener } from './channel-listener.js';
import { openClusterChannelLink } from './cluster-channel-link.js';
import { openConnection } from './connect.js';
import type { RedisConnection } from './connection.js';
import type { RedisContext } from './context.js';
import { inspectServers, joinDeployment, refuseImport } from './deployment.js';
import { RedisDirectory } from './directory.js';
import { EventChannels } from './event-channels.js';
import { RedisHooks } from './hooks.js';
import { KeySpace } from './keys.js';
import { RedisMessageStore } from './message-store.js';
import { RedisOutbox } from './outbox.js';
import { createGroups } from './outbox-groups.js';
import { partitionReaders } from './outbox-partitions.js';
import { oneReader } from './outbox-reads.js';
import { noteServers } from './partition-servers.js';
import { redisRates } from './rates.js';
import { ReplicaAcks } from './replica-acks.js';
import { Scripts, type ScriptTransform } from './scripts.js';
import type { TakeOver } from './take-over.js';
import { RedisUsers } from './users.js';
import { WeekGuess } from './week-guess.js';
import { Wire, type WireSettings } from './wire.js';

export { openRedisArchiveSink } from './archive-sink.js';
export { openRedisArchiveSource } from './archive-source.js';
export { openRedisHealth } from './health.js';
export { openRedisMaintenance } from './maintenance.js';

export interface RedisStoreOptions extends StoreOptions {
  /** In place of one in the URL. */
  readonly password?: string;
  /** Commit partitions, 1..COMMIT_PARTITIONS_MAX. Absent: those that the deployment has, or the default for a new one. */
  readonly partitions?: number;
  /** Refuses a server whose acknowledgements are worth no more than its memory. */
  readonly requireDurable?: boolean;
  /**
   * Replicas that must have a write to a conversation before it is answered, 0..ACK_REPLICAS_MAX; default 0. When too few
   * have it in time the write fails with StoreUnavailable, and its outcome is unknown.
   */
  readonly ackReplicas?: number;
  /** How long they may take; default ACK_REPLICAS_WAIT_MS, and at most a half of commandTimeoutMs. */
  readonly ackReplicasWaitMs?: number;
  /** After that long without an answer a call fails; default STORE_COMMAND_TIMEOUT_MS. */
  readonly commandTimeoutMs?: number;
  /** To go on with an import, or to begin one: the first part of an archive may be all that is there. */
  readonly importing?: boolean;
  /** For tests: added to the server's clock wherever a script reads it. */
  readonly clockOffsetMs?: number | (() => number);
  /** For tests: plants faults into the scripts. */
  readonly transformScript?: ScriptTransform;
}

/**
 * @throws InvalidArgument (field `store` or `partitions`): what to change, never a password. StoreUnavailable: no answer
 */
export async function openRedisStore(url: string, options: RedisStoreOptions = {}): Promise<Store> {
  const address = parseAddress(url, options.password);
  const { observer = {}, now = systemNow, commandTimeoutMs: timeoutMs = STORE_COMMAND_TIMEOUT_MS } = options;
  const offset = options.clockOffsetMs ?? 0;
  const clockOffsetMs = typeof offset === 'number' ? () => offset : offset;
  const connection = await openConnection({ address, name: 'qim', timeoutMs, onRoundTrip: () => observer.roundTrip?.() });
  try {
    const { product, ackDurability, clockAheadMs, replicas } = await inspectServers(connection, address.cluster, now);
    if (options.requireDurable === true && ackDurability === 'memory') {
      throw invalidArgument('store', 'a durable one: set appendonly yes, and appendfsync always or everysec');
    }
    const acks = replicaAcks(connection, options, timeoutMs);
    const onTakeOver = ({ kind }: TakeOver): void => observer.takeOver?.(kind);
    const scripts = new Scripts(connection, { transform: options.transformScript, onTakeOver, acks });
    await scripts.load();
    const keys = new KeySpace(await joinDeployment(scripts, options.partitions));
    if (options.importing !== true) await refuseImport(connection);
    await createGroups(connection, keys.allOutboxes());
    await noteServers(connection, scripts, keys, now());
    const weeks = new WeekGuess(now, clockAheadMs + clockOffsetMs());
    const wire = wireFor(address, options, { timeoutMs, onRoundTrip: () => observer.roundTrip?.() });
    const callsTogether = options.fastPaths === false ? 'never' : address.cluster ? 'samePartition' : 'always';
    const context: RedisContext = { connection, wire, scripts, keys, weeks, observer, callsTogether, now, clockOffsetMs };
    const outbox = new RedisOutbox(context, address.cluster ? partitionReaders(context) : oneReader(context));
    const bus = new RedisBus({
      connection,
      channels: new EventChannels(keys.partitionCount, address.database),
      listener: (handlers) => {
        const settings = { address, name: 'qim-events', timeoutMs };
        const open = (of: LinkHandlers) =>
          address.cluster ? openClusterChannelLink(connection, settings, of) : openChannelLink(settings, of);
        return new ChannelListener({ open, handlers, timeoutMs });
      },
    });
    return {
      messages: new RedisMessageStore(context),
      directory: new RedisDirectory(context),
      users: new RedisUsers(context),
      rates: redisRates(connection),
      outbox,
      hooks: new RedisHooks(context),
      bus,
      ackDurability,
      ackReplicas: { wanted: options.ackReplicas ?? 0, seen: replicas },
      description: `${product} at ${describeAddress(address)}`,
      ping: async () => {
        await connection.look();
        await Promise.all((await connection.primaries()).map((primary) => primary.call('PING')));
      },
      close: async () => {
        bus.close();
        wire?.close();
        outbox.close();
        await acks?.close();
        await connection.close();
      },
    };
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

function replicaAcks(connection: RedisConnection, options: RedisStoreOptions, timeoutMs: number): ReplicaAcks | undefined {
  const { ackReplicas: replicas = 0, ackReplicasWaitMs = ACK_REPLICAS_WAIT_MS } = options;
  if (!Number.isInteger(replicas) || replicas < 0 || replicas > ACK_REPLICAS_MAX)
    throw invalidArgument('ackReplicas', `0..${ACK_REPLICAS_MAX}`);
  if (replicas === 0) return undefined;
  // What follows still has time.
  const waitMs = Math.min(ackReplicasWaitMs, Math.ceil(timeoutMs / 2));
  return new ReplicaAcks({ open: () => connection.dedicated('qim-acks'), replicas, waitMs });
}

/** None over TLS or to a Cluster, where the ordinary connection reads pages too. */
function wireFor(
  address: StoreAddress,
  { fastPaths = true }: RedisStoreOptions,
  settings: Pick<WireSettings, 'timeoutMs' | 'onRoundTrip'>,
): Wire | undefined {
  return fastPaths && !address.cluster && !address.tls ? new Wire({ address, name: 'qim-pages', ...settings }) : undefined;
}
