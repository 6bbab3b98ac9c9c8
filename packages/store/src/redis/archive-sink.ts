/**
 * Where an import writes on Redis. A chunk is written in pipelines, its note after it; a chunk that is there in part is
 * written again. Note and data may lie on different servers, so an import goes on only where all of them have run since.
 */
import { ARCHIVE_COMMANDS_AT_ONCE, STORE_COMMAND_TIMEOUT_MS, type TenantId } from '@qim/proto';
import { ErrorReply } from 'redis';
import { ArchiveError } from '../archive/errors.js';
import type { ArchiveLine, OtherLine } from '../archive/line.js';
import { type ArchiveSink, formatNote, type ImportNote, parseNote } from '../archive/sink.js';
import { unavailable } from '../errors.js';
import { parseAddress } from './address.js';
import { commandsFor } from './archive-commands.js';
import { deploymentKeys, refuseServers, serversOf } from './archive-source.js';
import { openConnection } from './connect.js';
import type { Command, RedisConnection } from './connection.js';
import { DEPLOYMENT_KEY, IMPORT_FIELDS, type KeySpace, OWNERS_KEY, reportsKey } from './keys.js';
import { scanKeys } from './maintenance-walk.js';
import { asArray, asNumber, asOptionalText } from './replies.js';

/**
 * The deployment must be there: open it as a store first, with `importing`.
 *
 * @throws StoreUnavailable; ArchiveError StoreInUse when a server follows the outbox
 */
export async function openRedisArchiveSink(url: string, options: { readonly password?: string } = {}): Promise<ArchiveSink> {
  const address = parseAddress(url, options.password);
  const connection = await openConnection({ address, name: 'qim-import', timeoutMs: STORE_COMMAND_TIMEOUT_MS });
  try {
    const keys = await deploymentKeys(connection);
    await refuseServers(connection);
    return new RedisArchiveSink(connection, keys);
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

class RedisArchiveSink implements ArchiveSink {
  readonly #connection: RedisConnection;
  readonly #keys: KeySpace;

  constructor(connection: RedisConnection, keys: KeySpace) {
    this.#connection = connection;
    this.#keys = keys;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** Nothing of anybody's: an import would not tell whose it was. */
  async isEmpty(): Promise<boolean> {
    const made = new Set([DEPLOYMENT_KEY, OWNERS_KEY, ...this.#keys.allPartitions()]);
    for (const { lease } of this.#keys.outboxes()) made.add(lease);
    for await (const { keys } of scanKeys(this.#connection, undefined)) {
      // Streams are made when a store is opened; of another type is an error, which is no 0.
      const others = keys.filter((key) => !made.has(key));
      const lengths = await this.#connection.pipeline(others.map((key): Command => ['XLEN', key]));
      if (lengths.some((length) => length !== 0)) return false;
    }
    return true;
  }

  async note(): Promise<ImportNote | undefined> {
    const [text, servers] = asArray(await this.#connection.call('HMGET', DEPLOYMENT_KEY, ...IMPORT_FIELDS)).map(asOptionalText);
    if (text === undefined) return undefined;
    const note = parseNote(text);
    if (note === undefined) throw new ArchiveError('StoreNotEmpty', 'how far an import has come cannot be read: empty the store');
    if (servers === (await serversOf(this.#connection))) return note;
    throw new ArchiveError('StoreNotEmpty', 'a Redis server was restarted since the import began: empty the store and begin again');
  }

  async begin(note: ImportNote): Promise<void> {
    const [imported, servers] = IMPORT_FIELDS;
    await this.#write([['HSET', DEPLOYMENT_KEY, imported, formatNote(note), servers, await serversOf(this.#connection)]]);
  }

  async apply(lines: readonly ArchiveLine[], note: ImportNote): Promise<void> {
    await this.#write(commandsFor(await this.#withoutKnownReports(lines), this.#keys, note.startedAtMs));
    await this.#write([['HSET', DEPLOYMENT_KEY, IMPORT_FIELDS[0], formatNote(note)]]);
  }

  async end(): Promise<void> {
    await this.#write([['HDEL', DEPLOYMENT_KEY, ...IMPORT_FIELDS]]);
  }

  /** Of a list alone it matters whether something is there already. */
  async #withoutKnownReports(lines: readonly ArchiveLine[]): Promise<readonly ArchiveLine[]> {
    const tenants = [...new Set(lines.flatMap((line) => (line.kind === 'report' ? [line.tenantId] : [])))];
    if (tenants.length === 0) return lines;
    const replies = await this.#connection.pipeline(tenants.map((tenantId): Command => ['LLEN', reportsKey(tenantId)]));
    const known = new Map<TenantId, number>(tenants.map((tenantId, i) => [tenantId, asNumber(replies[i])]));
    const isKnown = (line: Extract<OtherLine, { kind: 'report' }>): boolean => line.number < (known.get(line.tenantId) ?? 0);
    return lines.filter((line) => line.kind !== 'report' || !isKnown(line));
  }

  async #write(commands: readonly Command[]): Promise<void> {
    for (let from = 0; from < commands.length; from += ARCHIVE_COMMANDS_AT_ONCE) {
      const replies = await this.#connection.pipeline(commands.slice(from, from + ARCHIVE_COMMANDS_AT_ONCE));
      const failure = replies.find((reply) => reply instanceof ErrorReply && !isThereAlready(reply));
      if (failure !== undefined) throw unavailable('an import was refused', failure);
    }
  }
}

/** Of an entry for the webhook's queue, whose times rise: what is not past the newest one was written before. */
function isThereAlready({ message }: ErrorReply): boolean {
  return message.includes('equal or smaller than the target stream top item');
}
