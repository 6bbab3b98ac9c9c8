/**
 * What `qim doctor` is told of a store. It is read beside any server, makes nothing, and works on a store that a server
 * would refuse to open. Undefined stands for what could not be learned, and never for a guess.
 */

export interface StoreHealth {
  /** What was opened, for people; never a password. */
  readonly description: string;
  /** The folder, or each Redis primary. */
  readonly nodes: readonly NodeHealth[];
  /** Undefined: it is no Cluster. */
  readonly cluster: ClusterHealth | undefined;
  /** Undefined: no qim has stored anything there yet. */
  readonly deployment: DeploymentHealth | undefined;
}

export interface NodeHealth {
  /** `host:port`, or the folder. */
  readonly name: string;
  /** Such as 'redis 7.0.15'. */
  readonly product: string;
  /** False: qim does not run on that version. */
  readonly versionServes: boolean;
  /** Undefined: what is asked does not exist for this store. */
  readonly redis: RedisHealth | undefined;
  /** What the data take now: of the file, or of Redis's memory. */
  readonly usedBytes: number;
  /** What more there is room for, by the file system, by maxmemory, or by the machine's memory. */
  readonly freeBytes: number | undefined;
  /** The file system's own room where Redis writes cannot be seen from here. */
  readonly freeDiskBytes: number | undefined;
  /** The store's clock minus ours. */
  readonly clockAheadMs: number;
}

export interface RedisHealth {
  readonly primary: boolean;
  /** maxmemory-policy. */
  readonly evictionPolicy: string;
  /** 0: as much as the machine has. */
  readonly maxMemoryBytes: number;
  /** off: nothing is appended. */
  readonly append: 'always' | 'everysec' | 'no' | 'off' | undefined;
  /** False: the last write of the append-only file failed. */
  readonly appendWrites: boolean;
  /** That are connected and follow. */
  readonly replicas: number;
}

export interface ClusterHealth {
  readonly ok: boolean;
  /** Of SLOTS_OF_CLUSTER, those that a living primary serves. */
  readonly slotsServed: number;
}

/** Of any Redis Cluster. */
export const SLOTS_OF_CLUSTER = 16_384;

export interface DeploymentHealth {
  readonly partitions: number;
  /** Partitions of which somebody holds the lease now. Undefined: the embedded store's leases live in its server. */
  readonly owned: number | undefined;
  /** Different owners among them; of the embedded store, the servers that have the folder. */
  readonly owners: number;
  readonly outbox: { readonly entries: number; readonly oldestMs: number; readonly poison: number };
}

export interface HealthReader {
  /** Cost: some round trips to each node. @throws StoreUnavailable */
  look(): Promise<StoreHealth>;
  close(): Promise<void>;
}
