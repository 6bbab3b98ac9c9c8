/** How a Redis is mended: each call is one script in one slot, beside whatever else goes on. */
import { readFileSync } from 'node:fs';
import type { ConversationId } from '@qim/proto';
import { formatViewEntry } from '../directory/view-entry.js';
import { sequenceToBytes } from '../message/bytes.js';
import { FACT_FIELDS, type FactField, formatFacts, formatMember, type StoredFacts } from '../message/facts.js';
import type { ConversationPlace, UserPlace } from '../verify/finding.js';
import type { ConversationChange, Seen, SeenValue, StoreMender, UserChange } from '../verify/mender.js';
import { encodeQuarantined } from '../verify/quarantine.js';
import type { Slot } from '../verify/scanner.js';
import type { Argument, Command, RedisConnection } from './connection.js';
import { bucketOf, type ConversationKeys, type KeySpace, type UserKeys, userKeys } from './keys.js';
import { guardOfFacts, WRONG_TYPE_GUARD } from './maintenance-facts.js';
import { quarantineKey } from './maintenance-keys.js';
import { toBuffer } from './replies.js';

interface Guard {
  readonly kind: 'hash' | 'zset';
  readonly key: string;
  readonly field: Argument;
  /** Undefined: there must be nothing. */
  readonly expected: Buffer | undefined;
}

interface Write {
  readonly command: 'HSET' | 'HDEL' | 'ZADD' | 'ZREM' | 'SREM' | 'DEL';
  readonly key: string;
  readonly args: readonly Argument[];
}

export class RedisMender implements StoreMender {
  readonly #connection: RedisConnection;
  readonly #keys: KeySpace;
  // The same file whether this runs from src or from dist.
  readonly #script = readFileSync(new URL('../../src/redis/maintenance-mend.lua', import.meta.url), 'utf8');

  constructor(connection: RedisConnection, keys: KeySpace) {
    this.#connection = connection;
    this.#keys = keys;
  }

  async mendConversation(place: ConversationPlace, seen: Seen, changes: readonly ConversationChange[]): Promise<boolean> {
    const keys = this.#keys.conversation(place.tenantId, place.conversationId);
    const guards = [...factsGuards(keys, seen, changes), ...seen.values.map((value) => valueGuard(keys, value))];
    return this.#run(
      guards,
      changes.flatMap((change) => conversationWrites(keys, seen, change)),
    );
  }

  async mendUser(
    { tenantId, userId }: UserPlace,
    conversationId: ConversationId | undefined,
    guard: string | undefined,
    changes: readonly UserChange[],
  ): Promise<boolean> {
    const keys = userKeys(tenantId, userId);
    const writes = changes.flatMap((change) => userWrites(keys, conversationId, change));
    if (guard === undefined || conversationId === undefined) return this.#run([], writes);
    const [view, score, mark, pin] = valuesIn(guard);
    return this.#run(
      [
        { kind: 'hash', key: keys.view, field: conversationId, expected: view },
        { kind: 'zset', key: keys.conversations, field: conversationId, expected: score },
        { kind: 'hash', key: keys.read, field: conversationId, expected: mark },
        { kind: 'zset', key: keys.pins, field: conversationId, expected: pin },
      ],
      writes,
    );
  }

  async forgetServers(): Promise<number> {
    const partitions = this.#keys.allPartitions();
    // The epoch stays, so that it only rises.
    await this.#connection.pipeline(partitions.map((key): Command => ['HDEL', key, 'runId', 'replicationId', 'flush', 'node']));
    return partitions.length;
  }

  guardOf(facts: StoredFacts): string {
    return guardOfFacts(facts);
  }

  async #run(guards: readonly Guard[], writes: readonly Write[]): Promise<boolean> {
    const keys = [...new Set([...guards, ...writes].map(({ key }) => key))];
    const numberOf = (key: string): string => String(keys.indexOf(key) + 1);
    const guardArgs = guards.flatMap(({ kind, key, field, expected }): Argument[] => [
      kind,
      numberOf(key),
      field,
      expected === undefined ? '-' : Buffer.concat([EXPECTED, expected]),
    ]);
    const writeArgs = writes.flatMap(({ command, key, args }): Argument[] => [command, numberOf(key), String(args.length), ...args]);
    const args = [String(guards.length), ...guardArgs, String(writes.length), ...writeArgs];
    return (await this.#connection.call('EVAL', this.#script, String(keys.length), ...keys, ...args)) === 1;
  }
}

const EXPECTED = Buffer.from('=');

/** From a guard: JSON of Latin-1 texts and nulls. */
function valuesIn(guard: string): (Buffer | undefined)[] {
  return (JSON.parse(guard) as (string | null)[]).map((value) => (value === null ? undefined : Buffer.from(value, 'latin1')));
}

/** Commits and amendments that come meanwhile change other fields. */
function factsGuards(keys: ConversationKeys, { facts, guard }: Seen, changes: readonly ConversationChange[]): Guard[] {
  // A key of another type is taken away: whatever it holds is no facts.
  if (guard === WRONG_TYPE_GUARD) return [];
  const values = facts === undefined ? valuesIn(guard) : FACT_FIELDS.map((name) => Buffer.from(formatFacts(facts)[name], 'utf8'));
  const needed =
    facts === undefined ? FACT_FIELDS : ['retainedFrom', 'epoch', ...changes.flatMap((change) => changedFields(facts, change))];
  return FACT_FIELDS.flatMap((field, i): Guard[] =>
    needed.includes(field) ? [{ kind: 'hash', key: keys.facts, field, expected: values[i] }] : [],
  );
}

function changedFields(before: StoredFacts, change: ConversationChange): FactField[] {
  if (change.kind !== 'facts') return [];
  const [old, now] = [formatFacts(before), formatFacts(change.facts)];
  return FACT_FIELDS.filter((name) => old[name] !== now[name]);
}

function valueGuard(keys: ConversationKeys, seen: SeenValue): Guard {
  if (seen.kind === 'record') {
    const key = keys.records(bucketOf(seen.sequence));
    return { kind: 'hash', key, field: String(seen.sequence), expected: seen.record && toBuffer(seen.record) };
  }
  const { table, key, field } = seen.slot;
  return { kind: isSorted(table) ? 'zset' : 'hash', key, field: field ?? '', expected: seen.value };
}

function conversationWrites(keys: ConversationKeys, { facts }: Seen, change: ConversationChange): Write[] {
  const [records, bodies] = 'sequence' in change ? placesOf(keys, change.sequence) : ['', ''];
  const member = 'sequence' in change ? toBuffer(sequenceToBytes(change.sequence)) : Buffer.alloc(0);
  const field = 'sequence' in change ? String(change.sequence) : '';
  switch (change.kind) {
    case 'remove':
      return [removal(change.slot)];
    case 'index':
      return [{ command: 'ZADD', key: keys.history, args: ['0', member] }];
    case 'unindex':
      return [{ command: 'ZREM', key: keys.history, args: [member] }];
    case 'record':
      return [
        { command: 'HSET', key: records, args: [field, toBuffer(change.record)] },
        change.body === undefined
          ? { command: 'HDEL', key: bodies, args: [field] }
          : { command: 'HSET', key: bodies, args: [field, toBuffer(change.body)] },
      ];
    case 'dropRecord':
      return [{ command: 'HDEL', key: records, args: [field] }];
    case 'dropBody':
      return [{ command: 'HDEL', key: bodies, args: [field] }];
    case 'facts': {
      const formatted = formatFacts(change.facts);
      const written = facts === undefined ? FACT_FIELDS : changedFields(facts, change);
      return written.length === 0 ? [] : [{ command: 'HSET', key: keys.facts, args: written.flatMap((name) => [name, formatted[name]]) }];
    }
    case 'member':
      return [{ command: 'HSET', key: keys.members, args: [change.userId, formatMember(change.entry)] }];
    case 'amendment':
      return [{ command: 'ZADD', key: keys.amendments, args: [String(change.number), member] }];
    case 'dropAmendment':
      return [{ command: 'ZREM', key: keys.amendments, args: [member] }];
    case 'reactions':
      return [
        change.value === undefined
          ? { command: 'HDEL', key: keys.reactions, args: [field] }
          : { command: 'HSET', key: keys.reactions, args: [field, toBuffer(change.value)] },
      ];
    case 'aside':
      return [{ command: 'HSET', key: quarantineKey(keys), args: [change.item.id, encodeQuarantined(change.item)] }];
  }
}

function placesOf(keys: ConversationKeys, sequence: number): [records: string, bodies: string] {
  return [keys.records(bucketOf(sequence)), keys.bodies(bucketOf(sequence))];
}

function removal({ table, key, field }: Slot): Write {
  if (field === undefined) return { command: 'DEL', key, args: [] };
  return { command: table === 'blocks' ? 'SREM' : isSorted(table) ? 'ZREM' : 'HDEL', key, args: [field] };
}

function isSorted(table: Slot['table']): boolean {
  return table === 'index' || table === 'amendment' || table === 'list' || table === 'pin';
}

function userWrites(keys: UserKeys, conversationId: ConversationId | undefined, change: UserChange): Write[] {
  if (change.kind === 'remove') return [removal(change.slot)];
  if (conversationId === undefined) return [];
  switch (change.kind) {
    case 'view':
      return [{ command: 'HSET', key: keys.view, args: [conversationId, formatViewEntry(change.entry)] }];
    case 'dropView':
      return [{ command: 'HDEL', key: keys.view, args: [conversationId] }];
    case 'listed':
      return [{ command: 'ZADD', key: keys.conversations, args: [String(change.activityAtMs), conversationId] }];
    case 'unlist':
      return [{ command: 'ZREM', key: keys.conversations, args: [conversationId] }];
    case 'readMark':
      return [{ command: 'HSET', key: keys.read, args: [conversationId, String(change.readSeq)] }];
    case 'dropReadMark':
      return [{ command: 'HDEL', key: keys.read, args: [conversationId] }];
    case 'pin':
      return [{ command: 'ZADD', key: keys.pins, args: [String(change.pinnedAtMs), conversationId] }];
    case 'unpin':
      return [{ command: 'ZREM', key: keys.pins, args: [conversationId] }];
  }
}
