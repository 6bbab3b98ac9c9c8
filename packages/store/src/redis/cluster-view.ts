/**
 * What is known of a Cluster, and who is asked. One view serves all connections of a store: what one of them learns of a
 * moved slot, all know.
 */
import { STORE_CLUSTER_LOOK_MS } from '@qim/proto';
import { inTime } from '../clock.js';
import { unavailable } from '../errors.js';
import { type NodeAddress, nodeName } from './address.js';
import { SlotMap } from './cluster-slots.js';
import { failureCode } from './connection.js';
import type { NodeConnection } from './node-connection.js';

export class ClusterView {
  readonly #seeds: readonly NodeAddress[];
  /** How a look reaches a node. */
  readonly #connect: (node: NodeAddress) => Promise<NodeConnection>;
  #map = new SlotMap();
  #looking: Promise<void> | undefined;
  /** Where the next look begins: a node that is cut off must not be the one that is always asked. */
  #turn = 0;

  constructor(seeds: readonly NodeAddress[], connect: (node: NodeAddress) => Promise<NodeConnection>) {
    this.#seeds = seeds;
    this.#connect = connect;
  }

  get map(): SlotMap {
    return this.#map;
  }

  moved(slot: number, node: NodeAddress): void {
    this.#map.set(slot, node);
  }

  /** Asks the nodes in turn who serves what; the first answer counts. Looks at the same time are one. @throws StoreUnavailable */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const nodes = this.#known();
    const from = this.#turn % nodes.length;
    this.#turn += 1;
    let failure: unknown;
    for (const node of [...nodes.slice(from), ...nodes.slice(0, from)]) {
      try {
        const map = await inTime(this.#slotsOf(node), STORE_CLUSTER_LOOK_MS);
        // A node that was just made, or forgotten by the others, knows of nobody.
        if (map.primaries().length === 0) continue;
        this.#map = map;
        return;
      } catch (error) {
        failure = error;
      }
    }
    throw unavailable('no node of the Cluster answers', failure);
  }

  #known(): NodeAddress[] {
    const known = new Map(this.#seeds.map((node) => [nodeName(node), node]));
    for (const name of this.#map.primaries()) {
      const node = this.#map.node(name);
      if (node !== undefined) known.set(name, node);
    }
    return [...known.values()];
  }

  async #slotsOf(node: NodeAddress): Promise<SlotMap> {
    const connection = await this.#connect(node);
    const [reply = null] = await connection.send([['CLUSTER', 'SLOTS']], 0);
    const code = failureCode(reply);
    if (code !== undefined) throw unavailable(code, reply);
    return SlotMap.from(reply, node);
  }
}
