/**
 * A connection to a Redis Cluster: one to each primary, and to each its part of a pipeline in one write.
 *
 * What a Cluster does not take now (MOVED, ASK, TRYAGAIN, CLUSTERDOWN, READONLY, LOADING, OOM) was not done, and is asked
 * again, at the right node or after a pause, until the time of the call is over: then it is StoreUnavailable, and so is a
 * write whose answer was lost. So is every pipeline of which a part has no answer.
 *
 * Of one slot, commands are done in their order also when some of them are asked again: all from the first of these on
 * are, and those of different nodes one after the other. Without that, facts could be newer than the index that was read
 * with them, which would look like damage. Scripts are never done twice.
 */
import { STORE_CLUSTER_PAUSE_MS_FIRST, STORE_CLUSTER_PAUSE_MS_MAX, STORE_CLUSTER_REDIRECTS_AT_ONCE } from '@qim/proto';
import { ErrorReply } from 'redis';
import { afterMs, inTime } from '../clock.js';
import { unavailable } from '../errors.js';
import { type NodeAddress, nodeName } from './address.js';
import { redirectFrom } from './cluster-slots.js';
import { ClusterView } from './cluster-view.js';
import { isRead, isScript, keyOf, keySlot } from './command-keys.js';
import { type Command, failureCode, type PipelineOptions, type RedisConnection, type Reply } from './connection.js';
import { type ConnectionSettings, Lost, NodeConnection, NotSent } from './node-connection.js';
import { asArray } from './replies.js';

/** What is done at one node, or not at all. */
interface Unit {
  /** Undefined: any primary will do. */
  readonly slot: number | undefined;
  readonly commands: readonly Command[];
  /** The slot is on its way there, and this unit is to be asked there, once. */
  ask: NodeAddress | undefined;
  /** One for each command; undefined: not done yet. */
  replies: readonly Reply[] | undefined;
}

/** Units of one node, in their order. */
interface Part {
  readonly node: NodeAddress;
  readonly units: Unit[];
}

/** Why units are not done yet. */
interface Setback {
  /** Shown to people when there is no time left. */
  readonly what: string;
  readonly cause: unknown;
  readonly pause: boolean;
  /** Who serves what may have changed. */
  readonly look: boolean;
}

/** Nothing was done; asked again after a pause. `true`: somebody else may serve the slot by then. */
const NOT_NOW: ReadonlyMap<string, boolean> = new Map([
  ['TRYAGAIN', false],
  ['CLUSTERDOWN', true],
  ['READONLY', true],
  ['MASTERDOWN', true],
  ['LOADING', true],
  ['OOM', false],
  // A read that waited for a key that left.
  ['UNBLOCKED', true],
]);

export class ClusterConnection implements RedisConnection {
  readonly #settings: ConnectionSettings;
  readonly #view: ClusterView;
  /** It waits for one key, and needs no more than one node at a time. */
  readonly #single: boolean;
  readonly #nodes = new Map<string, Promise<NodeConnection>>();
  #closed = false;

  private constructor(settings: ConnectionSettings, view: ClusterView | undefined) {
    this.#settings = settings;
    this.#single = view !== undefined;
    this.#view = view ?? new ClusterView(settings.address.nodes, (node) => this.#node(node));
  }

  /** @throws StoreUnavailable when no node answers, or not every slot is served */
  static async open(settings: ConnectionSettings): Promise<ClusterConnection> {
    const connection = new ClusterConnection(settings, undefined);
    try {
      await connection.look();
      if (!connection.#view.map.whole) throw unavailable('not every slot of the Cluster is served');
      await connection.primaries();
      return connection;
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }

  async pipeline(commands: readonly Command[], { extraMs = 0, at }: PipelineOptions = {}): Promise<readonly Reply[]> {
    if (commands.length === 0) return [];
    const home = at === undefined ? undefined : keySlot(at);
    let slot = home;
    const units = commands.map((command): Unit => {
      const key = keyOf(command);
      slot = key === undefined ? (home ?? slot) : keySlot(key);
      return { slot, commands: [command], ask: undefined, replies: undefined };
    });
    await this.#settle(units, extraMs);
    return units.map(({ replies }) => replies?.[0] ?? null);
  }

  async call(...command: Command): Promise<Reply> {
    const [reply = null] = await this.pipeline([command]);
    return reply;
  }

  async atomically(commands: readonly Command[]): Promise<readonly Reply[]> {
    const [key] = commands.flatMap((command) => keyOf(command) ?? []);
    const slot = key === undefined ? undefined : keySlot(key);
    const unit: Unit = { slot, commands: [['MULTI'], ...commands, ['EXEC']], ask: undefined, replies: undefined };
    await this.#settle([unit], 0);
    return asArray(unit.replies?.at(-1));
  }

  async primaries(): Promise<readonly NodeConnection[]> {
    const { map } = this.#view;
    const nodes = map.primaries().flatMap((name) => map.node(name) ?? []);
    try {
      return await Promise.all(nodes.map((node) => this.#node(node)));
    } catch (error) {
      throw error instanceof NotSent ? unavailable('connecting', error.cause) : error;
    }
  }

  /** Connections to those that serve nothing any more are ended once they have answered. */
  async look(): Promise<void> {
    await this.#view.look();
    const primaries = new Set(this.#view.map.primaries());
    for (const [name, opening] of this.#nodes) if (!primaries.has(name)) this.#drop(name, opening);
  }

  home(key: string): NodeAddress | undefined {
    const { map } = this.#view;
    const owner = map.owner(keySlot(key));
    return owner === undefined ? undefined : map.node(owner);
  }

  layout(): string {
    return this.#view.map.text;
  }

  dedicated(name: string): Promise<RedisConnection> {
    return Promise.resolve(new ClusterConnection({ ...this.#settings, name, onRoundTrip: undefined }, this.#view));
  }

  /** Until all units have replies, or the time is over. */
  async #settle(units: readonly Unit[], extraMs: number): Promise<void> {
    let last: Setback | undefined;
    let over = false;
    const work = async (): Promise<void> => {
      let pauseMs = STORE_CLUSTER_PAUSE_MS_FIRST;
      for (let round = 1; !over; round += 1) {
        const setbacks = await this.#round(units, extraMs);
        if (units.every(({ replies }) => replies !== undefined)) return;
        last = setbacks.at(-1) ?? last;
        if (setbacks.some(({ look }) => look)) await this.look().catch(() => {});
        if (round <= STORE_CLUSTER_REDIRECTS_AT_ONCE && !setbacks.some(({ pause }) => pause)) continue;
        await new Promise<void>((resolve) => void afterMs(pauseMs, resolve));
        pauseMs = Math.min(2 * pauseMs, STORE_CLUSTER_PAUSE_MS_MAX);
      }
    };
    const limitMs = this.#settings.timeoutMs + extraMs;
    let late = false;
    try {
      await inTime(work(), limitMs, () => {
        late = true;
      });
    } catch (error) {
      throw late ? unavailable(last?.what ?? 'connection', last?.cause ?? error) : error;
    } finally {
      over = true;
    }
  }

  /** Sends what is not done yet, as far as it can go at once. */
  async #round(units: readonly Unit[], extraMs: number): Promise<readonly Setback[]> {
    if (this.#closed) throw unavailable('the store is closed');
    const { parts, homeless } = this.#parts(units);
    const setbacks = await Promise.all(parts.map((part) => this.#send(part, extraMs)));
    if (homeless) setbacks.push([{ what: 'nobody serves the slot', cause: undefined, pause: true, look: true }]);
    return setbacks.flat();
  }

  #parts(units: readonly Unit[]): { readonly parts: readonly Part[]; readonly homeless: boolean } {
    const { map } = this.#view;
    const parts = new Map<string, Part>();
    /** Where the first units of a slot go; undefined: later ones of it have to wait. */
    const places = new Map<number | undefined, string | undefined>();
    let homeless = false;
    for (const unit of units) {
      if (unit.replies !== undefined) continue;
      const owner = unit.slot === undefined ? map.primaries()[0] : map.owner(unit.slot);
      const node = unit.ask ?? (owner === undefined ? undefined : map.node(owner));
      const name = node === undefined ? undefined : nodeName(node);
      if (name === undefined) homeless = true;
      if (!places.has(unit.slot)) places.set(unit.slot, name);
      else if (places.get(unit.slot) !== name) places.set(unit.slot, undefined);
      if (node === undefined || name === undefined || places.get(unit.slot) === undefined) continue;
      const part = parts.get(name);
      if (part === undefined) parts.set(name, { node, units: [unit] });
      else part.units.push(unit);
    }
    return { parts: [...parts.values()], homeless };
  }

  async #send({ node, units }: Part, extraMs: number): Promise<readonly Setback[]> {
    const commands = units.flatMap((unit): readonly Command[] => (unit.ask === undefined ? unit.commands : [['ASKING'], ...unit.commands]));
    let replies: readonly Reply[];
    try {
      const connection = await this.#node(node);
      replies = await connection.send(commands, extraMs);
    } catch (error) {
      const again = error instanceof NotSent || (error instanceof Lost && commands.every(isRead));
      if (again) return [{ what: 'connection', cause: error.cause ?? error, pause: true, look: true }];
      throw error instanceof Lost ? unavailable('connection', error.cause) : error;
    }
    return this.#take(node, units, replies);
  }

  /** Gives the units their replies, and tells why some have none. */
  #take(node: NodeAddress, units: readonly Unit[], replies: readonly Reply[]): readonly Setback[] {
    const setbacks: Setback[] = [];
    /** Slots of which something is to be asked again. */
    const held = new Set<number | undefined>();
    let at = 0;
    for (const unit of units) {
      at += unit.ask === undefined ? 0 : 1;
      const own = replies.slice(at, at + unit.commands.length);
      at += own.length;
      unit.ask = undefined;
      const refused = own.find((reply) => failureCode(reply) !== undefined);
      if (refused instanceof ErrorReply) {
        setbacks.push(this.#setback(node, unit, refused));
        held.add(unit.slot);
      } else if (!held.has(unit.slot) || unit.commands.some(isScript)) {
        unit.replies = own;
      }
    }
    return setbacks;
  }

  /** @throws StoreUnavailable when asking again would not help */
  #setback(node: NodeAddress, unit: Unit, refused: ErrorReply): Setback {
    const code = failureCode(refused) ?? '';
    if (code === 'MOVED') {
      const moved = redirectFrom(refused.message, node);
      this.#view.moved(moved.slot, moved.node);
      // Where one slot went others may have gone; nobody waits for that.
      void this.look().catch(() => {});
      return { what: code, cause: refused, pause: false, look: false };
    }
    if (code === 'ASK') {
      unit.ask = redirectFrom(refused.message, node).node;
      return { what: code, cause: refused, pause: false, look: false };
    }
    const look = NOT_NOW.get(code);
    if (look === undefined) throw unavailable(code, refused);
    return { what: code, cause: refused, pause: true, look };
  }

  #drop(name: string, opening: Promise<NodeConnection>): void {
    this.#nodes.delete(name);
    void opening.then((connection) => connection.close()).catch(() => {});
  }

  /** @throws NotSent */
  #node(node: NodeAddress): Promise<NodeConnection> {
    const name = nodeName(node);
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    if (this.#single) for (const [other, opening] of this.#nodes) this.#drop(other, opening);
    const { address } = this.#settings;
    const opening = this.#connect({ ...this.#settings, address: { ...address, nodes: [node] } });
    this.#nodes.set(name, opening);
    opening.catch(() => {
      if (this.#nodes.get(name) === opening) this.#nodes.delete(name);
    });
    return opening;
  }

  async #connect(settings: ConnectionSettings): Promise<NodeConnection> {
    let connection: NodeConnection;
    try {
      connection = await NodeConnection.open(settings);
    } catch (error) {
      throw new NotSent('connecting', { cause: error instanceof Error ? (error.cause ?? error) : error });
    }
    if (!this.#closed) return connection;
    connection.destroy();
    throw unavailable('the store is closed');
  }

  async close(): Promise<void> {
    this.#closed = true;
    const nodes = [...this.#nodes.values()];
    this.#nodes.clear();
    await Promise.all(nodes.map((opening) => opening.then((connection) => connection.close()).catch(() => {})));
  }

  destroy(): void {
    this.#closed = true;
    for (const opening of this.#nodes.values()) void opening.then((connection) => connection.destroy()).catch(() => {});
    this.#nodes.clear();
  }
}
