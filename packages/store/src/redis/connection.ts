/**
 * What a store needs of its connection, be it to one Redis or to a Cluster: explicit pipelines, binary replies, a bound on
 * waiting.
 *
 * A pipeline either yields one reply for each of its commands or throws StoreUnavailable: nothing is ever answered from
 * a part of it. What a command says about a key (WRONGTYPE) or about scripts and groups that are not there is a reply;
 * any other error reply (OOM, LOADING, READONLY, …) fails the pipeline. A write that may have reached a server is never
 * sent twice: after a lost connection its outcome is unknown, and only the caller knows how to ask again.
 */
import { ErrorReply } from 'redis';
import type { NodeAddress } from './address.js';

/** Text arguments are joined into one write; each Buffer goes as a piece of its own, so text is used where it can be. */
export type Argument = string | Buffer;
export type Command = readonly [name: string, ...Argument[]];
export type Reply = Buffer | string | number | null | ErrorReply | readonly Reply[];

export interface PipelineOptions {
  /** How much longer than usual the server may take, as a blocking command does. */
  readonly extraMs?: number;
  /**
   * A key: commands that name none go to the primary where it lies. Absent: to where the command before them goes, and the
   * first ones to any primary.
   */
  readonly at?: string;
}

export interface RedisConnection {
  /**
   * One reply for each command. On a Cluster each primary gets its part in one write. Cost: one flush to each primary.
   *
   * @throws StoreUnavailable
   */
  pipeline(commands: readonly Command[], options?: PipelineOptions): Promise<readonly Reply[]>;

  /** @throws StoreUnavailable */
  call(...command: Command): Promise<Reply>;

  /** The replies of commands whose keys lie in one slot, all of the same moment (MULTI). @throws StoreUnavailable */
  atomically(commands: readonly Command[]): Promise<readonly Reply[]>;

  /**
   * A connection to each primary as last seen, in the order of their names; the one itself where there is no Cluster.
   *
   * @throws StoreUnavailable
   */
  primaries(): Promise<readonly PrimaryConnection[]>;

  /** Asks anew who serves what. Cost: 1; 0 where there is no Cluster. @throws StoreUnavailable */
  look(): Promise<void>;

  /** The primary where a key or a sharded channel lies, as last seen; undefined: none is known. */
  home(key: string): NodeAddress | undefined;

  /** Who serves what, as last seen; another text when something was handed over. Empty where there is no Cluster. */
  layout(): string;

  /** One more connection to the same store, for commands that wait. @throws StoreUnavailable */
  dedicated(name: string): Promise<RedisConnection>;

  /** Waits for what is in flight, at most the time that a command may take. */
  close(): Promise<void>;

  /** Ends it at once; what waits fails. */
  destroy(): void;
}

/** To one server. */
export interface PrimaryConnection extends Pick<RedisConnection, 'pipeline' | 'call'> {
  /** `host:port`. */
  readonly name: string;
}

const REPLY_CODES = new Set(['WRONGTYPE', 'NOSCRIPT', 'BUSYGROUP', 'NOGROUP']);

/** The first word of an error reply, such as WRONGTYPE; of a script's error the one inside. */
export function replyCode(error: ErrorReply): string {
  const [first = '', ...rest] = error.message.split(' ');
  // A script that met an error reports `ERR WRONGTYPE …` or `WRONGTYPE …`, by version.
  return first === 'ERR' && rest[0] !== undefined && REPLY_CODES.has(rest[0]) ? rest[0] : first;
}

/** The code of an error that is no reply to the command: the server could not or would not run it. */
export function failureCode(reply: Reply | undefined): string | undefined {
  if (!(reply instanceof ErrorReply)) return undefined;
  const code = replyCode(reply);
  return REPLY_CODES.has(code) ? undefined : code;
}

export function isWrongType(reply: Reply | undefined): boolean {
  return reply instanceof ErrorReply && replyCode(reply) === 'WRONGTYPE';
}
