/** The buckets of a conversation, and what stands in one of them, read in one MULTI. */
import { type ConversationSeq, FSCK_PAGE_KEYS, parseConversationSeq, RECORD_BUCKET_SIZE } from '@qim/proto';
import { sequenceFromBytes, sequenceToBytes } from '../message/bytes.js';
import { Flag, Offset } from '../message/record-layout.js';
import type { OddItem, RowPage, StoredRow } from '../verify/scanner.js';
import { type Command, isWrongType, type RedisConnection, type Reply } from './connection.js';
import { bucketOf, type ConversationKeys } from './keys.js';
import { type BucketSpan, bucketSpan } from './maintenance-buckets.js';
import { bucketRead, factsCommand, factsFrom, newestCommand, newestFrom } from './reads.js';
import { asArray, asBuffer, asText, toBuffer } from './replies.js';

/** What one walk over the index found. */
export interface IndexWalk {
  /** That have members. */
  readonly buckets: ReadonlySet<number>;
  /** Every score is 0: the order is that of the sequences. */
  readonly inOrder: boolean;
}

/** Yields members that are none, and answers the rest. The walk goes by rank, which holds whatever the scores are. */
export async function* walkIndex(connection: RedisConnection, keys: ConversationKeys): AsyncGenerator<OddItem[], IndexWalk> {
  const buckets = new Set<number>();
  let inOrder = true;
  for (let rank = 0; ; rank += FSCK_PAGE_KEYS) {
    const reply = await connection.call('ZRANGE', keys.history, String(rank), String(rank + FSCK_PAGE_KEYS - 1), 'WITHSCORES');
    if (isWrongType(reply)) return { buckets, inOrder };
    const flat = asArray(reply).map(asBuffer);
    const odd: OddItem[] = [];
    for (let i = 0; i + 1 < flat.length; i += 2) {
      const member = flat[i] ?? Buffer.alloc(0);
      const sequence = sequenceFromBytes(member);
      if (flat[i + 1]?.toString() !== '0') inOrder = false;
      if (sequence !== undefined) buckets.add(bucketOf(sequence));
      else odd.push({ slot: { table: 'index', key: keys.history, field: member }, kind: 'name', bytes: undefined });
    }
    if (odd.length > 0) yield odd;
    if (flat.length < 2 * FSCK_PAGE_KEYS) return { buckets, inOrder };
  }
}

/** Undefined: only a search over all keys can tell. */
export async function spanOf(connection: RedisConnection, keys: ConversationKeys): Promise<BucketSpan | undefined> {
  const [facts, newest] = await connection.pipeline([factsCommand(keys), newestCommand(keys)]);
  return bucketSpan(factsFrom(facts), newestFrom(newest));
}

/** Those of the span that have records or bodies. */
export async function bucketsIn(connection: RedisConnection, keys: ConversationKeys, { first, last }: BucketSpan): Promise<number[]> {
  const found: number[] = [];
  for (let from = first; from <= last; from += FSCK_PAGE_KEYS) {
    const some = Array.from({ length: Math.min(FSCK_PAGE_KEYS, last - from + 1) }, (_, i) => from + i);
    const replies = await connection.pipeline(some.map((bucket) => ['EXISTS', keys.records(bucket), keys.bodies(bucket)]));
    found.push(...some.filter((_, i) => replies[i] !== 0));
  }
  return found;
}

/** One bucket. `inOrder` as in IndexWalk. */
export async function readBucket(connection: RedisConnection, keys: ConversationKeys, bucket: number, inOrder: boolean): Promise<RowPage> {
  const sequences = sequencesOf(bucket);
  const [from = 0, through = 0] = [sequences[0], sequences[sequences.length - 1]];
  const members: Command = inOrder
    ? ['ZRANGEBYLEX', keys.history, lexBound(from), lexBound(through)]
    : ['ZMSCORE', keys.history, ...sequences.map((seq) => toBuffer(sequenceToBytes(seq)))];
  const commands: Command[] = [members, ['HGETALL', keys.records(bucket)], ['HKEYS', keys.bodies(bucket)]];
  const [index, records, bodies] = await connection.atomically(commands);
  const rows = new Map<number, Row>();
  const row = (sequence: ConversationSeq): Row => {
    const known = rows.get(sequence) ?? { sequence, indexed: false, score: 0, record: undefined, hasBody: false };
    rows.set(sequence, known);
    return known;
  };
  for (const [sequence, score] of inOrder ? membersIn(index) : scoresIn(index, sequences))
    Object.assign(row(sequence), { indexed: true, score });
  const odd: OddItem[] = [];
  takeRecords(keys, bucket, records, row, odd);
  takeBodies(keys, bucket, bodies, row, odd);
  return { rows: [...rows.values()].sort((a, b) => a.sequence - b.sequence), odd };
}

/** The closed range, at most RECORD_BUCKET_SIZE wide. Bodies are not looked for: a record says whether it has one apart. */
export async function readRange(
  connection: RedisConnection,
  keys: ConversationKeys,
  from: ConversationSeq,
  through: ConversationSeq,
): Promise<StoredRow[]> {
  const sequences = Array.from({ length: through - from + 1 }, (_, i) => parseConversationSeq(from + i));
  const records = bucketRead((bucket) => keys.records(bucket), sequences);
  const members: Command = ['ZRANGEBYLEX', keys.history, lexBound(from), lexBound(through)];
  const [index, ...rest] = await connection.atomically([members, ...records.commands]);
  const indexed = new Set(membersIn(index).map(([sequence]) => sequence));
  const values = records.valuesFrom(rest);
  return sequences.flatMap((sequence, i): StoredRow[] => {
    const value = values[i];
    const record = typeof value === 'string' ? undefined : value;
    if (record === undefined && !indexed.has(sequence)) return [];
    const hasBody = record !== undefined && ((record[Offset.Flags] ?? 0) & Flag.BodyApart) !== 0;
    return [{ sequence, indexed: indexed.has(sequence), score: 0, record, hasBody }];
  });
}

type Row = { -readonly [K in keyof StoredRow]: StoredRow[K] };

/** Of a bucket, but for 0, which is none. */
function sequencesOf(bucket: number): ConversationSeq[] {
  const first = bucket * RECORD_BUCKET_SIZE;
  const all = Array.from({ length: RECORD_BUCKET_SIZE }, (_, i) => first + i);
  return all.filter((seq) => seq > 0 && Number.isSafeInteger(seq)).map((seq) => parseConversationSeq(seq));
}

function lexBound(seq: number): Buffer {
  return Buffer.concat([Buffer.from('['), sequenceToBytes(parseConversationSeq(seq))]);
}

function membersIn(reply: Reply | undefined): [ConversationSeq, number][] {
  if (isWrongType(reply)) return [];
  return asArray(reply).flatMap((member): [ConversationSeq, number][] => {
    const sequence = sequenceFromBytes(asBuffer(member));
    return sequence === undefined ? [] : [[sequence, 0]];
  });
}

function scoresIn(reply: Reply | undefined, sequences: readonly ConversationSeq[]): [ConversationSeq, number][] {
  if (isWrongType(reply)) return [];
  return asArray(reply).flatMap((score, i): [ConversationSeq, number][] => {
    const sequence = sequences[i];
    return score === null || sequence === undefined ? [] : [[sequence, Number(asText(score))]];
  });
}

function takeRecords(
  keys: ConversationKeys,
  bucket: number,
  reply: Reply | undefined,
  row: (seq: ConversationSeq) => Row,
  odd: OddItem[],
): void {
  const key = keys.records(bucket);
  if (isWrongType(reply)) {
    odd.push({ slot: { table: 'record', key, field: undefined }, kind: 'wrongType', bytes: undefined });
    return;
  }
  const flat = asArray(reply).map(asBuffer);
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const [field, value] = [flat[i] ?? Buffer.alloc(0), flat[i + 1] ?? Buffer.alloc(0)];
    const sequence = fieldSequence(field, bucket);
    if (sequence !== undefined) row(sequence).record = value;
    else odd.push({ slot: { table: 'record', key, field }, kind: 'name', bytes: value });
  }
}

function takeBodies(
  keys: ConversationKeys,
  bucket: number,
  reply: Reply | undefined,
  row: (seq: ConversationSeq) => Row,
  odd: OddItem[],
): void {
  const key = keys.bodies(bucket);
  if (isWrongType(reply)) {
    odd.push({ slot: { table: 'body', key, field: undefined }, kind: 'wrongType', bytes: undefined });
    return;
  }
  for (const field of asArray(reply).map(asBuffer)) {
    const sequence = fieldSequence(field, bucket);
    if (sequence !== undefined) row(sequence).hasBody = true;
    else odd.push({ slot: { table: 'body', key, field }, kind: 'name', bytes: undefined });
  }
}

/** Undefined: no field that a record of this bucket has. */
function fieldSequence(field: Buffer, bucket: number): ConversationSeq | undefined {
  const text = field.toString('latin1');
  const value = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : 0;
  return value > 0 && Number.isSafeInteger(value) && bucketOf(value) === bucket ? parseConversationSeq(value) : undefined;
}
