/** The raw reads of one conversation on Redis. */
import {
  type ConversationSeq,
  DEDUP_WEEK_MS,
  FSCK_PAGE_KEYS,
  isQimError,
  parseClientMessageId,
  parseConversationSeq,
  parseUserId,
  SEQ_MAX,
  type UserId,
} from '@qim/proto';
import { sequenceFromBytes, sequenceToBytes } from '../message/bytes.js';
import { parseMember } from '../message/facts.js';
import type { ConversationPlace } from '../verify/finding.js';
import type {
  ConversationScan,
  FactsRead,
  OddItem,
  RowPage,
  SkippedRange,
  Slot,
  StoredAmendment,
  StoredDedup,
  StoredMember,
  StoredReactions,
  StoredRow,
} from '../verify/scanner.js';
import { type Command, isWrongType, type RedisConnection, type Reply } from './connection.js';
import { bucketOf, type ConversationKeys } from './keys.js';
import { readFactsFrom } from './maintenance-facts.js';
import { conversationPattern, parseKey } from './maintenance-keys.js';
import { bucketsIn, readBucket, readRange, spanOf, walkIndex } from './maintenance-rows.js';
import { scanKeys, type WalkDeps } from './maintenance-walk.js';
import { bucketRead, factsCommand } from './reads.js';
import { asArray, asBuffer, asOptionalBuffer, asText, toBuffer } from './replies.js';

/** Weeks around the server's own of which there may be de-duplication entries: they expire after two. */
const WEEKS_BACK = 3;
const WEEKS_AHEAD = 1;

export class RedisConversationScan implements ConversationScan {
  readonly place: ConversationPlace;
  readonly #deps: WalkDeps;
  readonly #connection: RedisConnection;
  readonly #keys: ConversationKeys;

  constructor(deps: WalkDeps, place: ConversationPlace) {
    this.#deps = deps;
    this.#connection = deps.connection;
    this.place = place;
    this.#keys = deps.keys.conversation(place.tenantId, place.conversationId);
  }

  async facts(): Promise<FactsRead> {
    return readFactsFrom(await this.#connection.call(...factsCommand(this.#keys)));
  }

  async wrongKeys(): Promise<readonly OddItem[]> {
    const { facts, history, members, amendments, reactions } = this.#keys;
    const wanted = [
      ['key', facts, 'hash'],
      ['index', history, 'zset'],
      ['member', members, 'hash'],
      ['amendment', amendments, 'zset'],
      ['reaction', reactions, 'hash'],
      ...(await this.#weeks()).map((week) => ['dedup', this.#keys.dedup(week), 'hash'] as const),
    ] as const;
    const types = await this.#connection.pipeline(wanted.map(([, key]): Command => ['TYPE', key]));
    const wrong = wanted.filter(([, , type], i) => asText(types[i]) !== type && asText(types[i]) !== 'none');
    return Promise.all(wrong.map(([table, key]) => this.#wrongKey(table, key)));
  }

  async #wrongKey(table: Slot['table'], key: string): Promise<OddItem> {
    const dumped = asOptionalBuffer(await this.#connection.call('DUMP', key));
    return { slot: { table, key, field: undefined }, kind: 'wrongType', bytes: dumped };
  }

  async hasIndex(): Promise<boolean> {
    const reply = await this.#connection.call('EXISTS', this.#keys.history);
    return reply !== 0;
  }

  async *pages(): AsyncGenerator<RowPage> {
    const walk = walkIndex(this.#connection, this.#keys);
    let step = await walk.next();
    for (; step.done !== true; step = await walk.next()) yield { rows: [], odd: step.value };
    const { buckets, inOrder } = step.value;
    const all = [...new Set([...buckets, ...(await this.#storedBuckets())])].sort((a, b) => a - b);
    for (const bucket of all) {
      const page = await readBucket(this.#connection, this.#keys, bucket, inOrder);
      yield { ...page, odd: await Promise.all(page.odd.map((item) => this.#withBytes(item))) };
    }
  }

  async #withBytes(item: OddItem): Promise<OddItem> {
    const { slot, kind, bytes } = item;
    if (kind === 'wrongType') return this.#wrongKey(slot.table, slot.key);
    if (slot.table !== 'body' || slot.field === undefined || bytes !== undefined) return item;
    return { ...item, bytes: asOptionalBuffer(await this.#connection.call('HGET', slot.key, slot.field)) };
  }

  /** Buckets that hold something, in no order. */
  async #storedBuckets(): Promise<number[]> {
    const span = await spanOf(this.#connection, this.#keys);
    const strays = this.#deps.strays.get(this.#keys.facts) ?? [];
    if (span !== undefined) return [...strays, ...(await bucketsIn(this.#connection, this.#keys, span))];
    const found: number[] = [];
    for await (const { keys } of scanKeys(this.#connection, conversationPattern(this.#keys))) {
      for (const name of keys) {
        const parsed = parseKey(name, this.#deps.keys);
        if (parsed?.kind !== 'conversation' || parsed.place.conversationId !== this.place.conversationId) continue;
        if ((parsed.part === 'record' || parsed.part === 'body') && parsed.number !== undefined) found.push(parsed.number);
      }
    }
    return found;
  }

  async rows(from: ConversationSeq, through: ConversationSeq): Promise<readonly StoredRow[]> {
    return readRange(this.#connection, this.#keys, from, through);
  }

  records(sequences: readonly ConversationSeq[]): Promise<readonly (Uint8Array | undefined)[]> {
    return this.#values((bucket) => this.#keys.records(bucket), sequences);
  }

  bodies(sequences: readonly ConversationSeq[]): Promise<readonly (Uint8Array | undefined)[]> {
    return this.#values((bucket) => this.#keys.bodies(bucket), sequences);
  }

  async #values(keyOf: (bucket: number) => string, sequences: readonly ConversationSeq[]): Promise<(Uint8Array | undefined)[]> {
    const read = bucketRead(keyOf, sequences);
    const values = read.valuesFrom(await this.#connection.pipeline(read.commands));
    return values.map((value) => (typeof value === 'string' ? undefined : value));
  }

  async whole(sequence: ConversationSeq): Promise<{ readonly record: Uint8Array | undefined; readonly body: Uint8Array | undefined }> {
    const [records, bodies] = [this.#keys.records(bucketOf(sequence)), this.#keys.bodies(bucketOf(sequence))];
    const field = String(sequence);
    const commands: Command[] = [
      ['HGET', records, field],
      ['HGET', bodies, field],
    ];
    const [record, body] = (await this.#connection.atomically(commands)).map((reply) =>
      isWrongType(reply) ? undefined : asOptionalBuffer(reply),
    );
    return { record, body };
  }

  async amendmentsOf(sequences: readonly ConversationSeq[]): Promise<readonly (number | undefined)[]> {
    const members = sequences.map((seq) => toBuffer(sequenceToBytes(seq)));
    const reply = await this.#connection.call('ZMSCORE', this.#keys.amendments, ...members);
    if (isWrongType(reply)) return sequences.map(() => undefined);
    return asArray(reply).map((score) => (score === null ? undefined : Number(asText(score))));
  }

  async *members(): AsyncGenerator<readonly StoredMember[]> {
    for await (const pairs of this.#hash(this.#keys.members)) {
      yield pairs.map(([field, value]) => ({
        slot: { table: 'member' as const, key: this.#keys.members, field },
        userId: userIdFrom(field),
        entry: parseMember(value.toString('utf8')),
        raw: value,
      }));
    }
  }

  async *amendments(): AsyncGenerator<readonly StoredAmendment[]> {
    const key = this.#keys.amendments;
    for (let rank = 0; ; rank += FSCK_PAGE_KEYS) {
      const reply = await this.#connection.call('ZRANGE', key, String(rank), String(rank + FSCK_PAGE_KEYS - 1), 'WITHSCORES');
      if (isWrongType(reply)) return;
      const flat = asArray(reply).map(asBuffer);
      const found: StoredAmendment[] = [];
      for (let i = 0; i + 1 < flat.length; i += 2) {
        const member = flat[i] ?? Buffer.alloc(0);
        const number = Number(flat[i + 1]?.toString());
        const valid = Number.isInteger(number) && number >= 1 && number <= SEQ_MAX;
        const slot = { table: 'amendment' as const, key, field: member };
        const raw = flat[i + 1] ?? Buffer.alloc(0);
        found.push({ slot, sequence: sequenceFromBytes(member), number: valid ? number : undefined, agrees: true, raw });
      }
      if (found.length > 0) yield found;
      if (found.length < FSCK_PAGE_KEYS) return;
    }
  }

  async *reactions(): AsyncGenerator<readonly StoredReactions[]> {
    const key = this.#keys.reactions;
    for await (const pairs of this.#hash(key)) {
      yield pairs.map(([field, raw]) => ({ slot: { table: 'reaction' as const, key, field }, sequence: sequenceIn(field), raw }));
    }
  }

  async haveReactions(sequences: readonly ConversationSeq[]): Promise<readonly boolean[]> {
    const replies = await this.#connection.pipeline(
      sequences.map((sequence): Command => ['HEXISTS', this.#keys.reactions, String(sequence)]),
    );
    return replies.map((reply) => reply === 1);
  }

  async *dedup(): AsyncGenerator<readonly StoredDedup[]> {
    for (const week of await this.#weeks()) {
      const key = this.#keys.dedup(week);
      for await (const pairs of this.#hash(key)) {
        yield pairs.map(([field, bytes]) => ({ slot: { table: 'dedup' as const, key, field }, key: dedupName(field), week, bytes }));
      }
    }
  }

  async skipped(): Promise<readonly SkippedRange[]> {
    const ranges: SkippedRange[] = [];
    for await (const pairs of this.#hash(this.#keys.reserved)) {
      for (const [epoch, range] of pairs) {
        const [, from, through] = /^(\d{1,16}) (\d{1,16})$/.exec(range.toString('latin1')) ?? [];
        // Nothing rests on it: one that cannot be understood is no range.
        if (through !== undefined) ranges.push({ epoch: Number(epoch), from: Number(from), through: Number(through) });
      }
    }
    return ranges.sort((a, b) => a.epoch - b.epoch);
  }

  async waitingSince(): Promise<number | undefined> {
    const reply = await this.#connection.call('XRANGE', this.#keys.outbox, '-', '+', 'COUNT', '1');
    if (isWrongType(reply)) return undefined;
    const [entry] = asArray(reply);
    if (entry === undefined) return undefined;
    const [id] = asArray(entry);
    return Number.parseInt(asText(id), 10);
  }

  async #weeks(): Promise<number[]> {
    const [seconds] = asArray(await this.#connection.call('TIME'));
    const week = Math.floor((Number(asText(seconds)) * 1000) / DEDUP_WEEK_MS);
    return Array.from({ length: WEEKS_BACK + WEEKS_AHEAD + 1 }, (_, i) => week - WEEKS_BACK + i).filter((one) => one >= 0);
  }

  async *#hash(key: string): AsyncGenerator<[Buffer, Buffer][]> {
    yield* scanPairs(this.#connection, 'HSCAN', key);
  }
}

/** Pairs of a hash or of a sorted set, some FSCK_PAGE_KEYS at a time; one may come twice. Nothing of a key of another type. */
export async function* scanPairs(connection: RedisConnection, command: 'HSCAN' | 'ZSCAN', key: string): AsyncGenerator<[Buffer, Buffer][]> {
  for (let cursor = '0'; ; ) {
    const reply: Reply = await connection.call(command, key, cursor, 'COUNT', String(FSCK_PAGE_KEYS));
    if (isWrongType(reply)) return;
    const [next, found] = asArray(reply);
    cursor = asText(next);
    const flat = asArray(found).map(asBuffer);
    const pairs: [Buffer, Buffer][] = [];
    for (let i = 0; i + 1 < flat.length; i += 2) pairs.push([flat[i] ?? Buffer.alloc(0), flat[i + 1] ?? Buffer.alloc(0)]);
    if (pairs.length > 0) yield pairs;
    if (cursor === '0') return;
  }
}

/** Undefined: no field that a message has. */
function sequenceIn(field: Buffer): ConversationSeq | undefined {
  const text = field.toString('latin1');
  const value = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : 0;
  return value > 0 && value <= SEQ_MAX ? parseConversationSeq(value) : undefined;
}

/** Undefined: no user id, or bytes that are not its text. */
function userIdFrom(field: Buffer): UserId | undefined {
  const text = field.toString('utf8');
  try {
    return Buffer.from(text, 'utf8').equals(field) ? parseUserId(text) : undefined;
  } catch (error) {
    if (isQimError(error)) return undefined;
    throw error;
  }
}

function dedupName(field: Buffer): StoredDedup['key'] {
  const [sender, clientMessageId, ...more] = field.toString('latin1').split(':');
  if (sender === undefined || clientMessageId === undefined || more.length > 0) return undefined;
  try {
    return { sender: parseUserId(decodeURIComponent(sender)), clientMessageId: parseClientMessageId(decodeURIComponent(clientMessageId)) };
  } catch (error) {
    if (error instanceof URIError || isQimError(error)) return undefined;
    throw error;
  }
}
