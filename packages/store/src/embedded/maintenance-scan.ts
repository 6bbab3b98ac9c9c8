/** The raw reads of one conversation in an embedded store. Each page comes from one snapshot. */
import { type ConversationSeq, isQimError, parseClientMessageId, parseUserId, RECORD_BUCKET_SIZE } from '@qim/proto';
import { sequenceFromBytes } from '../message/bytes.js';
import { FACT_FIELDS, formatFacts, parseMember } from '../message/facts.js';
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
import type { Environment, Snapshot } from './environment.js';
import { ConversationKeys, everythingUnder, justAfter, type KeyRange, outboxPrefix, Table, userIdFrom } from './keys.js';
import { dedupIn, restOf, underConversation } from './maintenance-keys.js';
import { weeksOf } from './maintenance-walk.js';
import { decodeOutboxValue } from './outbox-value.js';
import { counterFrom, decodeFacts, textFrom } from './values.js';

const PARTITION = 0;
const NO_FACTS = 'none';

export class EmbeddedConversationScan implements ConversationScan {
  readonly place: ConversationPlace;
  readonly #environment: Environment;
  readonly #keys: ConversationKeys;

  constructor(environment: Environment, place: ConversationPlace) {
    this.#environment = environment;
    this.place = place;
    this.#keys = new ConversationKeys(place.tenantId, place.conversationId);
  }

  async facts(): Promise<FactsRead> {
    return this.#environment.read((snapshot) => readFacts(snapshot, this.#keys));
  }

  /** LMDB knows no types. */
  async wrongKeys(): Promise<readonly OddItem[]> {
    return [];
  }

  async hasIndex(): Promise<boolean> {
    return this.#environment.read((snapshot) => snapshot.keys(this.#range(Table.Index), 1).length > 0);
  }

  async *pages(): AsyncGenerator<RowPage> {
    const ranges = { index: this.#range(Table.Index), record: this.#range(Table.Record), body: this.#range(Table.Body) };
    for (let from: Buffer | undefined = Buffer.alloc(0); from !== undefined; ) {
      const at: Buffer = from;
      const merged: MergedPage = this.#environment.read((snapshot) => mergedPage(snapshot, ranges, at));
      from = merged.next;
      yield merged;
    }
  }

  async rows(from: ConversationSeq, through: ConversationSeq): Promise<readonly StoredRow[]> {
    const numbers = Array.from({ length: through - from + 1 }, (_, i) => from + i);
    return this.#environment.read((snapshot) =>
      numbers.flatMap((number): StoredRow[] => {
        const sequence = sequenceOf(number);
        const indexed = snapshot.get(this.#keys.index(sequence)) !== undefined;
        const record = snapshot.get(this.#keys.record(sequence));
        const hasBody = snapshot.get(this.#keys.body(sequence)) !== undefined;
        return indexed || record !== undefined || hasBody ? [{ sequence, indexed, score: 0, record, hasBody }] : [];
      }),
    );
  }

  async records(sequences: readonly ConversationSeq[]): Promise<readonly (Uint8Array | undefined)[]> {
    return this.#environment.read((snapshot) => sequences.map((sequence) => snapshot.get(this.#keys.record(sequence))));
  }

  async bodies(sequences: readonly ConversationSeq[]): Promise<readonly (Uint8Array | undefined)[]> {
    return this.#environment.read((snapshot) => sequences.map((sequence) => snapshot.get(this.#keys.body(sequence))));
  }

  async whole(sequence: ConversationSeq): Promise<{ readonly record: Uint8Array | undefined; readonly body: Uint8Array | undefined }> {
    return this.#environment.read((snapshot) => ({
      record: snapshot.get(this.#keys.record(sequence)),
      body: snapshot.get(this.#keys.body(sequence)),
    }));
  }

  async amendmentsOf(sequences: readonly ConversationSeq[]): Promise<readonly (number | undefined)[]> {
    return this.#environment.read((snapshot) => sequences.map((sequence) => numberIn(snapshot.get(this.#keys.amendmentOf(sequence)))));
  }

  async *members(): AsyncGenerator<readonly StoredMember[]> {
    const range = this.#range(Table.Member);
    for await (const entries of this.#entries(range)) {
      yield entries.map(({ key, value }) => ({
        slot: slotOf('member', key),
        userId: userIdFrom(restOf(key, range)),
        entry: parseMember(textFrom(value)),
        raw: value,
      }));
    }
  }

  async *amendments(): AsyncGenerator<readonly StoredAmendment[]> {
    for await (const entries of this.#entries(this.#range(Table.Amendment))) {
      yield this.#environment.read((snapshot) => entries.map((entry) => this.#amendment(snapshot, entry)));
    }
    // The other way round, only what disagrees: the rest was met above.
    for await (const entries of this.#entries(this.#range(Table.AmendmentOf))) {
      const found = this.#environment.read((snapshot) => entries.map((entry) => this.#amendmentOf(snapshot, entry)));
      yield found.filter(({ agrees }) => !agrees);
    }
  }

  #amendment(snapshot: Snapshot, { key, value }: Entry): StoredAmendment {
    const number = numberIn(restOf(key, this.#range(Table.Amendment)));
    const sequence = sequenceFromBytes(value);
    const agrees = sequence !== undefined && numberIn(snapshot.get(this.#keys.amendmentOf(sequence))) === number;
    return { slot: slotOf('amendment', key), sequence, number, agrees, raw: value };
  }

  #amendmentOf(snapshot: Snapshot, { key, value }: Entry): StoredAmendment {
    const sequence = sequenceFromBytes(restOf(key, this.#range(Table.AmendmentOf)));
    const number = numberIn(value);
    const named = number === undefined ? undefined : snapshot.get(this.#keys.amendment(number));
    const agrees = sequence !== undefined && named !== undefined && sequenceFromBytes(named) === sequence;
    return { slot: slotOf('amendment', key), sequence, number, agrees, raw: value };
  }

  async *reactions(): AsyncGenerator<readonly StoredReactions[]> {
    const range = this.#range(Table.Reaction);
    for await (const entries of this.#entries(range)) {
      yield entries.map(({ key, value }) => ({
        slot: slotOf('reaction', key),
        sequence: sequenceFromBytes(restOf(key, range)),
        raw: value,
      }));
    }
  }

  async haveReactions(sequences: readonly ConversationSeq[]): Promise<readonly boolean[]> {
    return this.#environment.read((snapshot) => sequences.map((sequence) => snapshot.get(this.#keys.reactions(sequence)) !== undefined));
  }

  async *dedup(): AsyncGenerator<readonly StoredDedup[]> {
    for (const week of this.#environment.read(weeksOf)) {
      const range = dedupIn(week, this.place);
      for await (const entries of this.#entries(range)) {
        yield entries.map(({ key, value }) => ({ slot: slotOf('dedup', key), key: dedupName(restOf(key, range)), week, bytes: value }));
      }
    }
  }

  /** One process owns the folder. */
  skipped(): Promise<readonly SkippedRange[]> {
    return Promise.resolve([]);
  }

  async waitingSince(): Promise<number | undefined> {
    const range = everythingUnder(outboxPrefix(Table.Outbox, PARTITION));
    const entries = this.#environment.read((snapshot) => snapshot.entries(range, RECORD_BUCKET_SIZE));
    return entries.map(({ value }) => decodeOutboxValue(value)).find((value) => value !== undefined)?.atMs;
  }

  #range(table: Parameters<typeof underConversation>[0]): KeyRange {
    return underConversation(table, this.place);
  }

  async *#entries({ start, end }: KeyRange): AsyncGenerator<readonly Entry[]> {
    for (let from: Buffer | undefined = start; from !== undefined; ) {
      const at: Buffer = from;
      const entries: Entry[] = this.#environment.read((snapshot) => snapshot.entries({ start: at, end }, RECORD_BUCKET_SIZE));
      if (entries.length > 0) yield entries;
      const last = entries[entries.length - 1];
      from = entries.length < RECORD_BUCKET_SIZE || last === undefined ? undefined : justAfter(last.key);
    }
  }
}

interface Entry {
  readonly key: Buffer;
  readonly value: Buffer;
}

export function readFacts(snapshot: Snapshot, keys: ConversationKeys): FactsRead {
  const raw = snapshot.get(keys.facts);
  const facts = decodeFacts(raw);
  const formatted = typeof facts === 'object' ? formatFacts(facts) : undefined;
  return { facts, texts: formatted && FACT_FIELDS.map((name) => formatted[name]), raw, guard: raw?.toString('hex') ?? NO_FACTS };
}

export function slotOf(table: Slot['table'], key: Buffer): Slot {
  return { table, key: key.toString('latin1'), field: undefined };
}

function sequenceOf(number: number): ConversationSeq {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(number));
  const sequence = sequenceFromBytes(bytes);
  if (sequence === undefined) throw new Error('a row is asked for by its sequence');
  return sequence;
}

/** Undefined: absent, or no number from 1. */
function numberIn(value: Uint8Array | undefined): number | undefined {
  const number = counterFrom(value);
  return number > 0 ? number : undefined;
}

function dedupName(rest: Buffer): StoredDedup['key'] {
  const [sender, clientMessageId, ...more] = rest.toString('latin1').split(':');
  if (sender === undefined || clientMessageId === undefined || more.length > 0) return undefined;
  try {
    return { sender: parseUserId(decodeURIComponent(sender)), clientMessageId: parseClientMessageId(decodeURIComponent(clientMessageId)) };
  } catch (error) {
    if (error instanceof URIError || isQimError(error)) return undefined;
    throw error;
  }
}

interface MergedPage extends RowPage {
  /** What stands behind the prefix of the first key that is not in the page; undefined: this was the last. */
  readonly next: Buffer | undefined;
}

type Ranges = Readonly<Record<'index' | 'record' | 'body', KeyRange>>;

/** Index, records and bodies side by side. The page ends where the first of the three that was cut short ends. */
function mergedPage(snapshot: Snapshot, ranges: Ranges, from: Buffer): MergedPage {
  const limit = RECORD_BUCKET_SIZE + 1;
  const after = ({ start, end }: KeyRange): KeyRange => ({ start: Buffer.concat([start, from]), end });
  const keysIn = (table: 'index' | 'body'): Entry[] =>
    snapshot.keys(after(ranges[table]), limit).map((key) => ({ key, value: Buffer.alloc(0) }));
  const parts = { index: keysIn('index'), record: snapshot.entries(after(ranges.record), limit), body: keysIn('body') };
  let next: Buffer | undefined;
  for (const table of TABLES) {
    const last = parts[table].length === limit ? parts[table][limit - 1] : undefined;
    const rest = last && restOf(last.key, ranges[table]);
    if (rest !== undefined && (next === undefined || Buffer.compare(rest, next) < 0)) next = rest;
  }
  const rows = new Map<string, { sequence: ConversationSeq; indexed: boolean; record: Uint8Array | undefined; hasBody: boolean }>();
  const odd: OddItem[] = [];
  for (const table of TABLES) {
    for (const { key, value } of parts[table]) {
      const rest = restOf(key, ranges[table]);
      if (next !== undefined && Buffer.compare(rest, next) >= 0) continue;
      const sequence = sequenceFromBytes(rest);
      if (sequence === undefined) {
        const bytes = table === 'index' ? undefined : snapshot.get(key);
        odd.push({ slot: slotOf(table, key), kind: 'name', bytes });
        continue;
      }
      const name = rest.toString('latin1');
      const row = rows.get(name) ?? { sequence, indexed: false, record: undefined, hasBody: false };
      rows.set(name, row);
      if (table === 'index') row.indexed = true;
      else if (table === 'record') row.record = value;
      else row.hasBody = true;
    }
  }
  const sorted = [...rows.values()].sort((a, b) => a.sequence - b.sequence).map((row) => ({ ...row, score: 0 }));
  return { rows: sorted, odd, next };
}

const TABLES = ['index', 'record', 'body'] as const;
