/** The connection to one Redis server. */
import { STORE_COMMANDS_WAITING_MAX, STORE_RECONNECT_PAUSE_MS_MAX } from '@qim/proto';
import { createClient, ErrorReply, RESP_TYPES } from 'redis';
import { afterMs, inTime } from '../clock.js';
import { unavailable } from '../errors.js';
import { type NodeAddress, nodeName, type StoreAddress } from './address.js';
import { type Command, failureCode, type PipelineOptions, type RedisConnection, type Reply } from './connection.js';

export interface ConnectionSettings {
  /** The first of its nodes is the one that is connected to. */
  readonly address: StoreAddress;
  /** Shown by CLIENT LIST. */
  readonly name: string;
  readonly timeoutMs: number;
  /** Called once for each write to a server. */
  readonly onRoundTrip?: (() => void) | undefined;
}

/** There was no connection to send on, so that nothing was done. */
export class NotSent extends Error {
  override readonly name = 'NotSent';
}

/** No answer came: whether anything was done is unknown. */
export class Lost extends Error {
  override readonly name = 'Lost';
}

const BINARY = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } } as const;
const ASK_ROLE: Command = ['INFO', 'replication'];
const RECONNECT_PAUSE_MS_FIRST = 20;

export type Client = ReturnType<typeof makeClient>;

/** Not yet connected. `mayRetry`: whether a lost one is made anew by itself. */
export function makeClient({ address, name, timeoutMs }: ConnectionSettings, mayRetry: () => boolean) {
  const [{ host, port }] = address.nodes;
  const client = createClient({
    ...(address.username === undefined ? {} : { username: address.username }),
    ...(address.password === undefined ? {} : { password: address.password }),
    database: address.database,
    name,
    RESP: 2,
    disableClientInfo: true,
    // A command that cannot be sent now fails now.
    disableOfflineQueue: true,
    // One timer for each pipeline (`inTime`), not one for each command.
    commandOptions: { timeout: 0 },
    socket: {
      host,
      port,
      ...(address.tls ? { tls: true } : {}),
      connectTimeout: timeoutMs,
      reconnectStrategy: (retries) =>
        mayRetry() && Math.min(RECONNECT_PAUSE_MS_FIRST * 2 ** Math.min(retries, 10), STORE_RECONNECT_PAUSE_MS_MAX),
    },
  });
  return client;
}

export class NodeConnection implements RedisConnection {
  readonly name: string;
  readonly #settings: ConnectionSettings;
  #client: Client;
  #opened = false;
  #closed = false;
  /** Commands without an answer. Counted here, because a pipeline is refused as a whole or not at all. */
  #waiting = 0;
  /** After a loss: what is behind the connection now has not said yet that it is a primary. At start others ask. */
  #unknownRole = false;
  #callOffWatch: (() => void) | undefined;

  private constructor(settings: ConnectionSettings) {
    this.#settings = settings;
    this.name = nodeName(settings.address.nodes[0]);
    this.#client = this.#make();
  }

  /** @throws StoreUnavailable when the first try fails; later losses are mended in the background */
  static async open(settings: ConnectionSettings): Promise<NodeConnection> {
    const connection = new NodeConnection(settings);
    try {
      await inTime(connection.#client.connect(), settings.timeoutMs);
    } catch (error) {
      connection.#client.destroy();
      throw unavailable('connecting', error);
    }
    connection.#opened = true;
    return connection;
  }

  #make(): Client {
    const client = makeClient(this.#settings, () => this.#opened && !this.#closed);
    client.on('ready', () => {
      this.#unknownRole = this.#opened;
    });
    // Each command reports its own failure; without a listener the event would end the process.
    client.on('error', () => this.#watch(client));
    return client;
  }

  /**
   * After a connection was made, the first commands are asked together with the role of the server: a former primary that
   * others have made a replica would answer from the past. A replica of a Cluster says so itself.
   */
  async pipeline(commands: readonly Command[], { extraMs = 0 }: PipelineOptions = {}): Promise<readonly Reply[]> {
    if (commands.length === 0) return [];
    const askRole = this.#unknownRole;
    let settled: readonly Reply[];
    try {
      settled = await this.send(askRole ? [ASK_ROLE, ...commands] : commands, extraMs);
    } catch (error) {
      throw error instanceof NotSent || error instanceof Lost ? unavailable('connection', error.cause ?? error) : error;
    }
    if (askRole) {
      const [role = null, ...rest] = settled;
      this.#checkRole(role);
      settled = rest;
    }
    for (const reply of settled) {
      const code = failureCode(reply);
      if (code !== undefined) throw unavailable(code, reply);
    }
    return settled;
  }

  async call(...command: Command): Promise<Reply> {
    const [reply = null] = await this.pipeline([command]);
    return reply;
  }

  async atomically(commands: readonly Command[]): Promise<readonly Reply[]> {
    const replies = await this.pipeline([['MULTI'], ...commands, ['EXEC']]);
    return replies.at(-1) as readonly Reply[];
  }

  primaries(): Promise<readonly NodeConnection[]> {
    return Promise.resolve([this]);
  }

  look(): Promise<void> {
    return Promise.resolve();
  }

  home(): NodeAddress {
    return this.#settings.address.nodes[0];
  }

  layout(): string {
    return '';
  }

  dedicated(name: string): Promise<RedisConnection> {
    return NodeConnection.open({ ...this.#settings, name, onRoundTrip: undefined });
  }

  /**
   * Sends the commands in one write and waits for all replies, whatever errors they are.
   *
   * @throws NotSent | Lost; StoreUnavailable when it must not be tried again, and nothing was done
   */
  async send(commands: readonly Command[], extraMs: number): Promise<readonly Reply[]> {
    if (this.#closed) throw unavailable('the store is closed');
    if (this.#waiting + commands.length > STORE_COMMANDS_WAITING_MAX) throw unavailable('too many commands wait for it');
    const client = this.#client;
    if (!client.isReady) throw new NotSent('there is no connection');
    this.#settings.onRoundTrip?.();
    this.#waiting += commands.length;
    const replies = Promise.all(commands.map((command) => client.sendCommand<Reply>(command, BINARY).catch(errorReply)));
    try {
      return await inTime(replies, this.#settings.timeoutMs + extraMs, () => this.#renew(client));
    } catch (error) {
      throw new Lost('no answer', { cause: error });
    } finally {
      this.#waiting -= commands.length;
    }
  }

  #checkRole(reply: Reply): void {
    // A server that hides it was asked at start; it is taken at its word.
    if (Buffer.isBuffer(reply) && !/^role:master\r?$/m.test(reply.toString())) throw unavailable('the server is a replica');
    this.#unknownRole = false;
  }

  /** A peer that vanished without a word would hold a connection for many minutes. */
  #renew(stale: Client): void {
    if (this.#client !== stale || this.#closed) return;
    this.#client = this.#make();
    this.#client.connect().catch(() => {});
    stale.destroy();
    this.#watch(this.#client);
  }

  /** Looks once, later, whether a lost connection is back: it may hang in a greeting that nobody answers. */
  #watch(client: Client): void {
    if (this.#callOffWatch !== undefined || !this.#opened || this.#closed) return;
    this.#callOffWatch = afterMs(2 * this.#settings.timeoutMs, () => {
      this.#callOffWatch = undefined;
      if (!client.isReady) this.#renew(client);
    });
  }

  /** Waits for what is in flight, at most the time that a command may take. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#callOffWatch?.();
    const client = this.#client;
    try {
      await inTime(client.close(), this.#settings.timeoutMs);
    } catch {
      client.destroy();
    }
  }

  /** Ends it at once; what waits fails. */
  destroy(): void {
    this.#closed = true;
    this.#callOffWatch?.();
    this.#client.destroy();
  }
}

function errorReply(error: unknown): ErrorReply {
  if (error instanceof ErrorReply) return error;
  throw error;
}
