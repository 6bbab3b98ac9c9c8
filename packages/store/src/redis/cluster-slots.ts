/** Which primary serves which slot, as the nodes of a Cluster say. */
import { assert } from '@qim/proto';
import type { NodeAddress } from './address.js';
import { nodeName } from './address.js';
import type { Reply } from './connection.js';
import { SLOTS } from './partitions.js';
import { asArray, asNumber, asOptionalText } from './replies.js';

export class SlotMap {
  /** By slot; undefined: nobody is known to serve it. */
  readonly #owners: (string | undefined)[] = new Array<string | undefined>(SLOTS).fill(undefined);
  readonly #nodes = new Map<string, NodeAddress>();
  #text: string | undefined;
  #primaries: readonly string[] | undefined;

  /** From CLUSTER SLOTS; `asked` answered, and stands for itself where it does not know its own name. */
  static from(reply: Reply, asked: NodeAddress): SlotMap {
    const map = new SlotMap();
    for (const range of asArray(reply)) {
      const [first, last, primary] = asArray(range);
      const [host, port] = asArray(primary);
      const node = { host: asOptionalText(host) || asked.host, port: asNumber(port) };
      map.#set(asNumber(first), asNumber(last), node);
    }
    return map;
  }

  set(slot: number, node: NodeAddress): void {
    this.#set(slot, slot, node);
  }

  #set(first: number, last: number, node: NodeAddress): void {
    assert(first >= 0 && first <= last && last < SLOTS, 'slots are those of the Cluster');
    const name = nodeName(node);
    this.#owners.fill(name, first, last + 1);
    this.#nodes.set(name, node);
    this.#text = undefined;
    this.#primaries = undefined;
  }

  owner(slot: number): string | undefined {
    return this.#owners[slot];
  }

  node(name: string): NodeAddress | undefined {
    return this.#nodes.get(name);
  }

  /** `host:port` of all that serve a slot, in the order of their names. */
  primaries(): readonly string[] {
    this.#primaries ??= [...new Set(this.#owners)].filter((owner) => owner !== undefined).sort();
    return this.#primaries;
  }

  /** Every slot is served by somebody. */
  get whole(): boolean {
    return !this.#owners.includes(undefined);
  }

  /** Two maps are alike when the same nodes serve the same slots. */
  get text(): string {
    this.#text ??= this.#describe();
    return this.#text;
  }

  #describe(): string {
    const ranges: string[] = [];
    for (const [slot, owner] of this.#owners.entries()) {
      if (slot === 0 || owner !== this.#owners[slot - 1]) ranges.push(`${slot} ${owner ?? '-'}`);
    }
    return ranges.join(',');
  }
}

/** Where to a node sends its client; `asked` is the node, which stands for a host that is not told. */
export interface Redirect {
  readonly slot: number;
  readonly node: NodeAddress;
}

/** From `MOVED slot host:port` or `ASK slot host:port`. */
export function redirectFrom(message: string, asked: NodeAddress): Redirect {
  const [, slot, place = ''] = message.split(' ');
  const colon = place.lastIndexOf(':');
  const host = place.slice(0, colon).replace(/^\[|\]$/g, '');
  return { slot: Number(slot), node: { host: host || asked.host, port: Number(place.slice(colon + 1)) } };
}
