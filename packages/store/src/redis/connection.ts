/**
 * One connection to Redis: explicit pipelines, binary replies, a bound on waiting.
 *
 * A pipeline either yields one reply for each of its commands or throws StoreUnavailable: nothing is ever answered from
 * a part of it. What a command says about a key (WRONGTYPE) or about scripts and groups that are not there is a reply;
 * any other error reply (OOM, LOADING, READONLY, …) fails the pipeline. A command is never sent twice by itself: after a
 * lost connection the outcome of a write is unknown, and only the caller knows how to ask again.
 */
import { invalidArgument, STORE_COMMANDS_WAITING_MAX, STORE_RECONNECT_PAUSE_MS_MAX } from '@qim/proto';
import { createClient, ErrorReply, RESP_TYPES } from 'redis';
import { afterMs } from '../clock.js';
import { unavailable } from '../errors.js';

/** Text arguments are joined into one write; each Buffer goes as a piece of its own, so text is used where it can be. */
export type Argument = string | Buffer;
export type Command = readonly [name: string, ...Argument[]];
export type Reply = Buffer | string | number | null | ErrorReply | readonly Reply[];

export interface ConnectionSettings {
  readonly url: string;
  /** Shown by CLIENT LIST. */
  readonly name: string;
  readonly timeoutMs: number;
  /** Called once for each pipeline. */
  readonly onRoundTrip?: (() => void) | undefined;
}

const REPLY_CODES = new Set(['WRONGTYPE', 'NOSCRIPT', 'BUSYGROUP', 'NOGROUP']);
const BINARY = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } } as const;
const ASK_ROLE: Command = ['INFO', 'replication'];
const RECONNECT_PAUSE_MS_FIRST = 20;

/** The first word of an error reply, such as WRONGTYPE; of a script's error the one inside. */
export function replyCode(error: ErrorReply): string {
  const [first = '', ...rest] = error.message.split(' ');
  // A script that met an error reports `ERR WRONGTYPE …` or `WRONGTYPE …`, by version.
  return first === 'ERR' && rest[0] !== undefined && REPLY_CODES.has(rest[0]) ? rest[0] : first;
}

export function isWrongType(reply: Reply | undefined): boolean {
  return reply instanceof ErrorReply && replyCode(reply) === 'WRONGTYPE';
}

type Client = ReturnType<typeof makeClient>;

function makeClient(settings: ConnectionSettings, mayRetry: () => boolean) {
  const client = createClient({
    url: settings.url,
    name: settings.name,
    RESP: 2,
    disableClientInfo: true,
    // A command that cannot be sent now fails now.
    disableOfflineQueue: true,
    // One timer for each pipeline (`#inTime`), not one for each command.
    commandOptions: { timeout: 0 },
    socket: {
      connectTimeout: settings.timeoutMs,
      reconnectStrategy: (retries) =>
        mayRetry() && Math.min(RECONNECT_PAUSE_MS_FIRST * 2 ** Math.min(retries, 10), STORE_RECONNECT_PAUSE_MS_MAX),
    },
  });
  return client;
}

export class RedisConnection {
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
    this.#client = this.#make();
  }

  /** @throws StoreUnavailable when the first try fails; later losses are mended in the background */
  static async open(settings: ConnectionSettings): Promise<RedisConnection> {
    const connection = new RedisConnection(settings);
    try {
      await connection.#inTime(connection.#client.connect(), settings.timeoutMs, () => {});
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
   * Sends the commands in one write and waits for all replies. `extraMs`: how much longer than usual the server may
   * take, as a blocking command does. After a connection was made, the first ones are asked together with the role of the
   * server: a former primary that others have made a replica would answer from the past.
   *
   * @throws StoreUnavailable
   */
  async pipeline(commands: readonly Command[], extraMs = 0): Promise<readonly Reply[]> {
    if (commands.length === 0) return [];
    if (this.#closed) throw unavailable('the store is closed');
    if (this.#waiting + commands.length > STORE_COMMANDS_WAITING_MAX) throw unavailable('too many commands wait for it');
    this.#settings.onRoundTrip?.();
    this.#waiting += commands.length;
    const client = this.#client;
    const askRole = this.#unknownRole;
    const sent = askRole ? [ASK_ROLE, ...commands] : commands;
    const replies = Promise.all(sent.map((command) => client.sendCommand<Reply>(command, BINARY).catch(errorReply)));
    let settled: readonly Reply[];
    try {
      settled = await this.#inTime(replies, this.#settings.timeoutMs + extraMs, () => this.#renew(client));
    } catch (error) {
      throw unavailable('connection', error);
    } finally {
      this.#waiting -= commands.length;
    }
    if (askRole) {
      const [role = null, ...rest] = settled;
      this.#checkRole(role);
      settled = rest;
    }
    for (const reply of settled) {
      if (reply instanceof ErrorReply && !REPLY_CODES.has(replyCode(reply))) throw unavailable(replyCode(reply), reply);
    }
    return settled;
  }

  /** @throws StoreUnavailable */
  async call(...command: Command): Promise<Reply> {
    const [reply = null] = await this.pipeline([command]);
    return reply;
  }

  #checkRole(reply: Reply): void {
    // A server that hides it was asked at start; it is taken at its word.
    if (Buffer.isBuffer(reply) && !/^role:master\r?$/m.test(reply.toString())) throw unavailable('the server is a replica');
    this.#unknownRole = false;
  }

  async #inTime<T>(work: Promise<T>, timeoutMs: number, onLate: () => void): Promise<T> {
    let callOff = (): void => {};
    const late = new Promise<never>((_, reject) => {
      callOff = afterMs(timeoutMs, () => {
        reject(new Error(`no answer in ${timeoutMs} ms`));
        onLate();
      });
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      callOff();
    }
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
      await this.#inTime(client.close(), this.#settings.timeoutMs, () => {});
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

/** `host:port`, with `/database` when it is not 0; never user or password. @throws InvalidArgument */
export function describeUrl(url: string): string {
  const allowed = 'redis://[[user]:password@]host[:port][/database], or rediss:// for TLS';
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    // The cause would print the address with its password.
    throw invalidArgument('store', allowed);
  }
  const { protocol, hostname, port, pathname } = parsed;
  if ((protocol !== 'redis:' && protocol !== 'rediss:') || hostname === '' || !/^(\/\d{0,9})?$/.test(pathname)) {
    throw invalidArgument('store', allowed);
  }
  const database = Number(pathname.slice(1));
  return `${hostname}:${port || '6379'}${database === 0 ? '' : `/${database}`}`;
}
