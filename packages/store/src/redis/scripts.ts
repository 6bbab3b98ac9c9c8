/**
 * The Lua scripts: which there are, how many keys each takes, and how they are run.
 *
 * Each lives in scripts/NAME.lua with a header that a test compares with this table. What several share, or what is too
 * much for one file, lies in includes/NAME.lua and stands where a line `-- include NAME` is. They are loaded once at start
 * and run by their SHA-1; a server that forgot them (restart, SCRIPT FLUSH) gets them again with the same call.
 *
 * One that includes `partition-guard` has the partition's key as its last one, and answers 'takeOver' without having
 * written when another server takes the writes now; it is run again after the take-over.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { assert, TAKE_OVER_TRIES_MAX } from '@qim/proto';
import { ErrorReply } from 'redis';
import { unavailable } from '../errors.js';
import { type Argument, type Command, type RedisConnection, type Reply, replyCode } from './connection.js';
import type { ReplicaAcks } from './replica-acks.js';
import { asArray, asText } from './replies.js';
import { type TakeOver, takeOver } from './take-over.js';

/** How many keys each takes; those of SEVERAL so many for each. */
export const SCRIPT_KEYS = {
  deployment: 1,
  'take-over': 1,
  commit: 13,
  amend: 10,
  react: 9,
  retain: 19,
  'user-page': 4,
  'user-touch': 2,
  'user-join': 3,
  'user-leave': 4,
  'user-raise-read': 2,
  'user-clear': 1,
  'user-flags': 3,
  'user-add': 1,
  'user-web-push': 1,
  'group-request': 3,
  'outbox-owners': 1,
  'outbox-acquire': 1,
  'outbox-renew': 1,
  'outbox-release': 1,
  'outbox-acknowledge': 2,
  'outbox-set-aside': 3,
  'hooks-append': 3,
  'hooks-remove': 3,
} as const;

export type ScriptName = keyof typeof SCRIPT_KEYS;

/** They take several conversations or users at once. */
const SEVERAL: ReadonlySet<ScriptName> = new Set(['commit', 'user-touch']);

/** Tests plant faults into a script's text here. */
export type ScriptTransform = (name: ScriptName, text: string) => string;

export interface ScriptCall {
  readonly keys: readonly string[];
  readonly args: readonly Argument[];
}

interface LoadedScript {
  readonly text: string;
  readonly sha1: string;
  /** It includes the guard. */
  readonly guarded: boolean;
}

/** As it is sent, with what it includes. */
export function scriptText(name: ScriptName): string {
  return luaText(`scripts/${name}.lua`).replace(INCLUDE, (_, part: string) => luaText(`includes/${part}.lua`));
}

const INCLUDE = /^-- include ([a-z-]+)\n/gm;
const GUARD = '-- include partition-guard\n';

/** Whether it writes to a partition, and so asks first which server takes the writes. */
export function isGuarded(name: ScriptName): boolean {
  return luaText(`scripts/${name}.lua`).includes(GUARD);
}

function luaText(path: string): string {
  // The same file whether this runs from src or from dist.
  return readFileSync(new URL(`../../src/redis/${path}`, import.meta.url), 'utf8');
}

export interface ScriptsOptions {
  readonly transform?: ScriptTransform | undefined;
  /** Told of each. */
  readonly onTakeOver?: (takeOver: TakeOver) => void;
  /** Absent: an answer does not wait for replicas. */
  readonly acks?: ReplicaAcks | undefined;
}

/** What a guarded script, or one commit of several, answers when it has written nothing, now or before. */
const NOTHING_WRITTEN: ReadonlySet<string> = new Set(['takeOver', 'guess', 'changed', 'refused', 'conflict', 'corrupt']);

/** The script answers { its answer, replication id of the server }, which is what replicas are waited for by. */
function withReplicationId(text: string): string {
  const id = `string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')`;
  return `local function script()\n${text}\nend\nreturn { script(), ${id} }\n`;
}

export class Scripts {
  readonly #connection: RedisConnection;
  readonly #loaded = new Map<ScriptName, LoadedScript>();
  readonly #onTakeOver: (takeOver: TakeOver) => void;
  readonly #acks: ReplicaAcks | undefined;
  /** Those under way, by the partition's key. */
  readonly #takeOvers = new Map<string, Promise<TakeOver>>();

  constructor(connection: RedisConnection, { transform = (_, text) => text, onTakeOver = () => {}, acks }: ScriptsOptions = {}) {
    this.#connection = connection;
    this.#onTakeOver = onTakeOver;
    this.#acks = acks;
    for (const name of Object.keys(SCRIPT_KEYS) as ScriptName[]) {
      const guarded = isGuarded(name);
      const written = transform(name, scriptText(name));
      const text = guarded && acks !== undefined ? withReplicationId(written) : written;
      this.#loaded.set(name, { text, sha1: createHash('sha1').update(text).digest('hex'), guarded });
    }
  }

  /** Sends all of them to the server. Cost: 1. @throws StoreUnavailable */
  async load(): Promise<void> {
    const commands = [...this.#loaded.values()].map(({ text }): Command => ['SCRIPT', 'LOAD', text]);
    await Promise.all((await this.#connection.primaries()).map((primary) => primary.pipeline(commands)));
  }

  /** The reply of one call, a WRONGTYPE that it met included. Cost: 1. @throws StoreUnavailable */
  async run(name: ScriptName, keys: readonly string[], args: readonly Argument[]): Promise<Reply> {
    const [reply = null] = await this.runAll(name, [{ keys, args }]);
    return reply;
  }

  /**
   * One pipeline of calls, one reply each. Cost: 1; 2 after the server forgot the script; 1 more to wait for replicas; some
   * more when another server takes the writes than before. @throws StoreUnavailable
   */
  async runAll(name: ScriptName, calls: readonly ScriptCall[]): Promise<readonly Reply[]> {
    const script = this.#loaded.get(name);
    assert(script !== undefined, 'all scripts are loaded');
    const replies = [...(await this.#runOnce(name, script, calls))];
    if (!script.guarded) return replies;
    for (let tries = 0; tries < TAKE_OVER_TRIES_MAX; tries += 1) {
      const stopped = [...replies.keys()].filter((i) => asksForTakeOver(replies[i]));
      if (stopped.length === 0) return replies;
      const again = stopped.flatMap((i) => calls[i] ?? []);
      await Promise.all([...new Set(again.flatMap((call) => partitionKeysOf(name, call)))].map((key) => this.takeOver(key)));
      for (const [at, reply] of (await this.#runOnce(name, script, again)).entries()) replies[stopped[at] ?? 0] = reply;
    }
    throw unavailable('the server changes all the time');
  }

  /** Notes which server takes the writes of a partition (take-over.ts). Cost: 3 or 4. @throws StoreUnavailable */
  takeOver(partitionKey: string, fresh = false): Promise<TakeOver> {
    const running = this.#takeOvers.get(partitionKey);
    if (running !== undefined) return running;
    const started = this.#takeOver(partitionKey, fresh).finally(() => this.#takeOvers.delete(partitionKey));
    this.#takeOvers.set(partitionKey, started);
    return started;
  }

  async #takeOver(partitionKey: string, fresh: boolean): Promise<TakeOver> {
    const done = await takeOver(this.#connection, partitionKey, fresh, (args) => this.run('take-over', [partitionKey], args));
    this.#onTakeOver(done);
    return done;
  }

  async #runOnce(name: ScriptName, script: LoadedScript, calls: readonly ScriptCall[]): Promise<readonly Reply[]> {
    const parts = calls.map((call): Argument[] => {
      const { length } = call.keys;
      const listed = length === SCRIPT_KEYS[name] || (SEVERAL.has(name) && length > 0 && length % SCRIPT_KEYS[name] === 0);
      assert(listed, `${name} gets the keys that its header lists`);
      return [String(call.keys.length), ...call.keys, ...call.args];
    });
    const replies = await this.#evaluate(script, parts);
    return script.guarded && this.#acks !== undefined ? this.#whenReplicated(this.#acks, replies, calls) : replies;
  }

  /** The scripts' own replies. What was written, now or before, is with the replicas. */
  #whenReplicated(acks: ReplicaAcks, replies: readonly Reply[], calls: readonly ScriptCall[]): Promise<readonly Reply[]> {
    return Promise.all(
      replies.map(async (reply, i) => {
        const call = calls[i];
        if (reply instanceof ErrorReply || call === undefined) return reply;
        const [own = null, replicationId] = asArray(reply);
        if (hasWritten(asArray(own))) await acks.reached(asText(replicationId), partitionKeyOf(call));
        return own;
      }),
    );
  }

  async #evaluate(script: LoadedScript, parts: readonly (readonly Argument[])[]): Promise<readonly Reply[]> {
    const replies = await this.#connection.pipeline(parts.map((part): Command => ['EVALSHA', script.sha1, ...part]));
    const forgotten = parts.filter((_, i) => isNoScript(replies[i]));
    if (forgotten.length === 0) return replies;
    // A script that is not there ran for none of these, so running them now is their first time. With its text, because
    // a Cluster may have moved the key to yet another server.
    const rest = (await this.#connection.pipeline(forgotten.map((part): Command => ['EVAL', script.text, ...part]))).values();
    return replies.map((reply) => (isNoScript(reply) ? (rest.next().value ?? null) : reply));
  }
}

function isNoScript(reply: Reply | undefined): boolean {
  return reply instanceof ErrorReply && replyCode(reply) === 'NOSCRIPT';
}

function hasWritten([kind, ...results]: readonly Reply[]): boolean {
  const written = !NOTHING_WRITTEN.has(asText(kind));
  const commits = results.filter((result) => Array.isArray(result));
  return written && (commits.length === 0 || commits.some((result) => hasWritten(asArray(result))));
}

function asksForTakeOver(reply: Reply | undefined): boolean {
  return Array.isArray(reply) && reply.length === 1 && Buffer.isBuffer(reply[0]) && reply[0].toString() === 'takeOver';
}

/** The last key of each conversation. */
function partitionKeysOf(name: ScriptName, { keys }: ScriptCall): string[] {
  return keys.filter((_, i) => (i + 1) % SCRIPT_KEYS[name] === 0);
}

function partitionKeyOf({ keys }: ScriptCall): string {
  const key = keys.at(-1);
  assert(key !== undefined, 'a guarded script has keys');
  return key;
}
