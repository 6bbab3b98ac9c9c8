/** What an export reads of a Redis. Nothing can be held there; that a server lives, or wrote meanwhile, is noticed. */
import { createHash } from 'node:crypto';
import {
  FSCK_PAGE_KEYS,
  isQimError,
  parseConversationId,
  parseTenantId,
  parseUserId,
  REPORTS_KEPT_MAX,
  STORE_COMMAND_TIMEOUT_MS,
  type TenantId,
} from '@qim/proto';
import { ArchiveError } from '../archive/errors.js';
import type { OtherLine, UserPart } from '../archive/line.js';
import type { ArchiveSource } from '../archive/source.js';
import type { UserPlace } from '../verify/finding.js';
import { parseAddress } from './address.js';
import { openConnection } from './connect.js';
import { type Command, isWrongType, type RedisConnection, type Reply } from './connection.js';
import { refuseImport } from './deployment.js';
import { DEPLOYMENT_KEY, KeySpace, OTHER_KEYS, OWNERS_KEY, userKeys } from './keys.js';
import { RedisScanner } from './maintenance.js';
import { parseUser } from './maintenance-keys.js';
import { scanPairs } from './maintenance-scan.js';
import { scanKeys } from './maintenance-walk.js';
import { fieldsOf, parseEntry, writtenAt } from './outbox-entry.js';
import { asArray, asOptionalText, asText } from './replies.js';

/** @throws StoreUnavailable when there is no whole store; ArchiveError StoreInUse when a server follows its outbox */
export async function openRedisArchiveSource(url: string, options: { readonly password?: string } = {}): Promise<ArchiveSource> {
  const address = parseAddress(url, options.password);
  const connection = await openConnection({ address, name: 'qim-export', timeoutMs: STORE_COMMAND_TIMEOUT_MS });
  try {
    const keys = await deploymentKeys(connection);
    await refuseImport(connection);
    await refuseServers(connection);
    return new RedisArchiveSource(connection, keys);
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

/** Cost: 1. @throws ArchiveError NotArchivable when there is no deployment */
export async function deploymentKeys(connection: RedisConnection): Promise<KeySpace> {
  const partitions = Number(asOptionalText(await connection.call('HGET', DEPLOYMENT_KEY, 'partitions')));
  if (Number.isInteger(partitions) && partitions >= 1) return new KeySpace(partitions);
  throw new ArchiveError('NotArchivable', 'there is no qim store on this Redis');
}

/** Cost: 2. @throws ArchiveError StoreInUse */
export async function refuseServers(connection: RedisConnection): Promise<void> {
  const [seconds] = asArray(await connection.call('TIME'));
  const living = await connection.call('ZCOUNT', OWNERS_KEY, `(${Number(asText(seconds)) * 1_000}`, '+inf');
  if (living !== 0) throw new ArchiveError('StoreInUse', 'a server of this store is running, or was killed a moment ago: stop all of them');
}

/** Of all primaries: another text once one of them was restarted or replaced. */
export async function serversOf(connection: RedisConnection): Promise<string> {
  const infos = await Promise.all((await connection.primaries()).map(async (one) => asText(await one.call('INFO', 'server'))));
  const runs = infos.map((info) => /run_id:([0-9a-f]+)/.exec(info)?.[1] ?? '');
  return createHash('sha256').update(runs.sort().join(' ')).digest('hex');
}

class RedisArchiveSource implements ArchiveSource {
  readonly scanner: RedisScanner;
  readonly #connection: RedisConnection;
  readonly #keys: KeySpace;

  constructor(connection: RedisConnection, keys: KeySpace) {
    this.#connection = connection;
    this.#keys = keys;
    this.scanner = new RedisScanner({ connection, keys, strays: new Map() });
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** Every change to a conversation has an entry of an outbox; a server that was restarted knows no cursors. */
  async pulse(): Promise<string> {
    const streams = await this.#connection.pipeline(this.#keys.allOutboxes().map((key): Command => ['XINFO', 'STREAM', key]));
    const hash = createHash('sha256').update(await serversOf(this.#connection));
    for (const stream of streams) {
      const parts = asArray(stream);
      const at = parts.findIndex((part) => Buffer.isBuffer(part) && part.toString() === 'last-generated-id');
      hash.update(` ${asText(parts[at + 1])}`);
    }
    return hash.digest('hex');
  }

  async ofUser({ tenantId, userId }: UserPlace): Promise<readonly UserPart[]> {
    const { profile, blocks, suspended } = userKeys(tenantId, userId);
    const replies = await this.#connection.pipeline([
      ['GET', profile],
      ['SMEMBERS', blocks],
      ['SMEMBERS', suspended],
    ]);
    // The scanner tells of keys of another type.
    const [text, blocked, devices] = replies.map((reply) => (isWrongType(reply) ? null : reply));
    const profileText = asOptionalText(text);
    return [
      ...(profileText === undefined ? [] : [{ kind: 'profile', text: profileText } as const]),
      ...textsIn(blocked).map((name): UserPart => ({ kind: 'blocked', userId: ofOurs(() => parseUserId(name), 'a name that is blocked') })),
      ...textsIn(devices).map((device): UserPart => ({ kind: 'suspended', device })),
    ];
  }

  async *others(): AsyncGenerator<readonly OtherLine[]> {
    yield* this.#ofUsers(OTHER_KEYS.left, 'ZSCAN', ({ tenantId, userId }, [member, score]) => ({
      kind: 'left',
      tenantId,
      userId,
      conversationId: conversationFrom(member),
      atMs: Number(score.toString()),
    }));
    yield* this.#ofUsers(OTHER_KEYS.groupRequests, 'HSCAN', ({ tenantId, userId }, [field, value], week) => ({
      kind: 'groupRequest',
      tenantId,
      userId,
      clientRequestId: field.toString('utf8'),
      week: Number(week),
      conversationId: conversationFrom(value),
    }));
    yield* this.#reports();
    const partitions = this.#keys.outboxes();
    let newestMs = 0;
    for (const { hooks } of partitions) {
      for await (const entries of this.#entriesOf(hooks)) {
        yield entries.map(({ id, ...entry }): OtherLine => {
          newestMs = Math.max(newestMs, writtenAt(id));
          return { kind: 'untold', ...entry, committedAtMs: newestMs };
        });
      }
    }
    for (const { outbox } of partitions) {
      for await (const entries of this.#entriesOf(outbox)) {
        yield entries.map(({ of, tenantId, conversationId, conversationSeq }) => ({
          kind: 'undelivered',
          of,
          tenantId,
          conversationId,
          conversationSeq,
        }));
      }
    }
  }

  async *#ofUsers(
    { pattern, form }: { readonly pattern: string; readonly form: RegExp },
    command: 'HSCAN' | 'ZSCAN',
    lineOf: (place: UserPlace, pair: readonly [Buffer, Buffer], week: string) => OtherLine,
  ): AsyncGenerator<readonly OtherLine[]> {
    for await (const { keys } of scanKeys(this.#connection, pattern)) {
      for (const key of keys) {
        const [, tag = '', week = ''] = form.exec(key) ?? [];
        const place = parseUser(tag);
        if (place === undefined) continue;
        for await (const pairs of scanPairs(this.#connection, command, key)) yield pairs.map((pair) => lineOf(place, pair, week));
      }
    }
  }

  async *#reports(): AsyncGenerator<readonly OtherLine[]> {
    const told = new Set<string>();
    for await (const { keys } of scanKeys(this.#connection, OTHER_KEYS.reports.pattern)) {
      for (const key of keys) {
        const [, tenant] = OTHER_KEYS.reports.form.exec(key) ?? [];
        if (tenant === undefined || told.has(key)) continue;
        told.add(key);
        yield* this.#reportsIn(
          key,
          ofOurs(() => parseTenantId(Number(tenant)), 'the tenant of reports'),
        );
      }
    }
  }

  /** The list has the newest first. */
  async *#reportsIn(key: string, tenantId: TenantId): AsyncGenerator<readonly OtherLine[]> {
    for (let number = 0; number < REPORTS_KEPT_MAX; number += FSCK_PAGE_KEYS) {
      const reply = await this.#connection.call('LRANGE', key, String(-number - FSCK_PAGE_KEYS), String(-number - 1));
      if (isWrongType(reply)) throw cannot('a key of reports');
      const texts = asArray(reply).map(asText).reverse();
      yield texts.map((text, i) => ({ kind: 'report', tenantId, number: number + i, text }));
      if (texts.length < FSCK_PAGE_KEYS) return;
    }
  }

  /** In pages. One that cannot be understood is passed over: whoever follows the stream would set it aside. */
  async *#entriesOf(stream: string): AsyncGenerator<readonly StreamEntry[]> {
    for (let from = '-'; ; ) {
      const reply = await this.#connection.call('XRANGE', stream, from, '+', 'COUNT', String(FSCK_PAGE_KEYS));
      if (isWrongType(reply)) throw cannot('a stream of what waits');
      const entries = asArray(reply).map(asArray);
      yield entries.flatMap(([id, fields]): StreamEntry[] => {
        const parsed = parseEntry({ partition: 0, entryId: asText(id), fields: fieldsOf(asArray(fields)) });
        if (typeof parsed === 'string') return [];
        const { kind: of, tenantId, conversationId, conversationSeq } = parsed;
        return [{ id: asText(id), of, tenantId, conversationId, conversationSeq }];
      });
      const last = entries.at(-1);
      if (last === undefined || entries.length < FSCK_PAGE_KEYS) return;
      from = `(${asText(last[0])}`;
    }
  }
}

type StreamEntry = Omit<Extract<OtherLine, { kind: 'undelivered' }>, 'kind'> & { readonly id: string };

function textsIn(reply: Reply | undefined): string[] {
  return reply === null || reply === undefined ? [] : asArray(reply).map(asText).sort();
}

function conversationFrom(bytes: Buffer) {
  return ofOurs(() => parseConversationId(bytes.toString('latin1')), 'a conversation that a user left, or made');
}

function ofOurs<T>(parse: () => T, what: string): T {
  try {
    return parse();
  } catch (error) {
    if (isQimError(error)) throw cannot(what);
    throw error;
  }
}

function cannot(what: string): ArchiveError {
  return new ArchiveError('NotArchivable', `${what} cannot be read`);
}
