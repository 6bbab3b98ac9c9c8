/**
 * Waiting until replicas have what was written, before it is acknowledged.
 *
 * WAIT holds up its connection, so it has one of its own, and one WAIT serves all writes that were answered before it was
 * sent. It asks in the same write which server answers: only the one that took a write, in the same reign, can say that
 * its replicas have it.
 */
import { unavailable } from '../errors.js';
import type { RedisConnection } from './connection.js';
import { asNumber, asText } from './replies.js';

export interface ReplicaAcksSettings {
  readonly open: () => Promise<RedisConnection>;
  /** 1 or more. */
  readonly replicas: number;
  /** How long they may take. */
  readonly waitMs: number;
}

/** The waits for one server. */
interface Lane {
  running: Promise<void> | undefined;
  /** Not sent yet: whoever comes joins it. */
  next: Promise<void> | undefined;
}

export class ReplicaAcks {
  readonly #settings: ReplicaAcksSettings;
  /** By the replication id of the server. */
  readonly #lanes = new Map<string, Lane>();
  #connection: Promise<RedisConnection> | undefined;

  constructor(settings: ReplicaAcksSettings) {
    this.#settings = settings;
  }

  /**
   * Resolves when enough replicas have all that the server had written by now. `replicationId`: of the server when it
   * wrote; `at`: a key that lies there. Cost: 1, shared with others that wait at the same time.
   *
   * @throws StoreUnavailable: too few of them, or another server; what was written may be lost, or may not
   */
  reached(replicationId: string, at: string): Promise<void> {
    const lane = this.#lanes.get(replicationId) ?? { running: undefined, next: undefined };
    this.#lanes.set(replicationId, lane);
    lane.next ??= this.#after(lane, replicationId, at);
    return lane.next;
  }

  async #after(lane: Lane, replicationId: string, at: string): Promise<void> {
    // What is answered in the same turn joins.
    await (lane.running ?? Promise.resolve()).catch(() => {});
    const wait = this.#wait(replicationId, at);
    [lane.running, lane.next] = [wait, undefined];
    try {
      await wait;
    } finally {
      if (lane.running === wait) lane.running = undefined;
      if (lane.running === undefined && lane.next === undefined) this.#lanes.delete(replicationId);
    }
  }

  async #wait(replicationId: string, at: string): Promise<void> {
    const { replicas, waitMs } = this.#settings;
    const connection = await this.#open();
    const [info = null, reached = null] = await connection.pipeline(
      [
        ['INFO', 'replication'],
        ['WAIT', String(replicas), String(waitMs)],
      ],
      { at, extraMs: waitMs },
    );
    if (!asText(info).includes(`master_replid:${replicationId}`)) throw unavailable('another server took over before replicas had it');
    if (asNumber(reached) < replicas) throw unavailable(`${asNumber(reached)} of ${replicas} replicas have it`);
  }

  #open(): Promise<RedisConnection> {
    this.#connection ??= this.#settings.open().catch((error: unknown) => {
      this.#connection = undefined;
      throw error;
    });
    return this.#connection;
  }

  async close(): Promise<void> {
    const connection = await this.#connection?.catch(() => undefined);
    connection?.destroy();
  }
}
