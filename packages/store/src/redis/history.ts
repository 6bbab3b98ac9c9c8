/**
 * One page of history, with its chain checked on both sides: what lies between the page and the position that was asked
 * for, and between its records, is a hole and not a loss.
 *
 * Round 1 reads facts, the index and then the member entry, round 2 the records, round 3 the bodies that are apart. The
 * member's floor is not known before round 1: a page forward that began below it is asked for again from there.
 */
import {
  assert,
  type ConversationSeq,
  type CorruptReason,
  HISTORY_PAGE_SIZE_MAX,
  type MessageRecord,
  notMember,
  parseConversationSeq,
  SEQ_ZERO,
} from '@qim/proto';
import { corrupt, isDamage } from '../errors.js';
import { sequenceFromBytes } from '../message/bytes.js';
import { chainFloor } from '../message/chain.js';
import { checkIdentity, decodeHeader, type RecordHeader } from '../message/codec.js';
import type { StoredFacts } from '../message/facts.js';
import type { HistoryPage, HistoryQuery } from '../message/message-store.js';
import type { RecordBytes } from '../message/summaries.js';
import type { Command } from './connection.js';
import type { RedisContext } from './context.js';
import { fetchAhead, PageBudget } from './history-budget.js';
import type { ConversationKeys } from './keys.js';
import { readAtomically, wholeRecord } from './messages.js';
import {
  bucketRead,
  factsCommand,
  factsFrom,
  memberCommand,
  memberFrom,
  memberFromCommand,
  membersAfterCommand,
  membersBeforeCommand,
  membersFrom,
  newestCommand,
  newestFrom,
} from './reads.js';

/** @throws NotMember | CorruptRecord | UnsupportedVersion */
export async function readHistory(context: RedisContext, query: HistoryQuery): Promise<HistoryPage> {
  assert(query.limit >= 1 && query.limit <= HISTORY_PAGE_SIZE_MAX, 'a page has 1..HISTORY_PAGE_SIZE_MAX records');
  try {
    return await new HistoryRead(context, query).page();
  } catch (error) {
    if (!isDamage(error)) throw error;
    // Something may have been removed between two rounds; only what is still wrong is damage.
    context.observer.redo?.();
    return await new HistoryRead(context, query).page();
  }
}

/** What round 1 found. */
interface Index {
  readonly facts: StoredFacts;
  /** In the direction of the page, one more than its limit when there are more; none that is not visible. */
  readonly sequences: readonly ConversationSeq[];
  /** Nothing of the page lies at or below it. */
  readonly floor: ConversationSeq;
  /** For a page back: the first index member at or past the position. */
  readonly anchor: ConversationSeq | undefined;
}

class HistoryRead {
  readonly #context: RedisContext;
  readonly #query: HistoryQuery;
  readonly #keys: ConversationKeys;
  /** Undefined: a page back. */
  readonly #after: ConversationSeq | undefined;
  /** Of a page back; undefined: from the newest. */
  readonly #before: ConversationSeq | undefined;

  constructor(context: RedisContext, query: HistoryQuery) {
    const { position } = query;
    this.#context = context;
    this.#query = query;
    this.#keys = context.keys.conversation(query.tenantId, query.conversationId);
    this.#after = position !== 'newest' && 'after' in position ? position.after : undefined;
    this.#before = position !== 'newest' && 'before' in position ? position.before : undefined;
  }

  async page(): Promise<HistoryPage> {
    const index = await this.#readIndex(this.#query.clearedSeq);
    const wanted = index.sequences.slice(0, this.#query.limit);
    const sequences = index.anchor === undefined ? wanted : [...wanted, index.anchor];
    const read = bucketRead((bucket) => this.#keys.records(bucket), sequences);
    const bytes = read.valuesFrom(await this.#context.connection.pipeline(read.commands));
    const headers = wanted.map((seq, i) => this.#header(seq, bytes[i]));
    this.#checkChain(index, headers, index.anchor === undefined ? undefined : bytes[wanted.length]);

    const records = await this.#takePage(wanted, headers, bytes);
    const hasMore = records.length < index.sequences.length;
    return { records: this.#after === undefined ? records.toReversed() : records, hasMore, epoch: index.facts.epoch };
  }

  /** `floor`: what the caller knows of what is visible; a page forward starts there when that is past its position. */
  async #readIndex(floor: ConversationSeq): Promise<Index> {
    const { userId, limit } = this.#query;
    const from = max(this.#after ?? SEQ_ZERO, floor);
    const commands: Command[] = [
      factsCommand(this.#keys),
      newestCommand(this.#keys),
      this.#after === undefined
        ? membersBeforeCommand(this.#keys, this.#before, floor, limit + 1)
        : membersAfterCommand(this.#keys, from, limit + 1),
      ...(this.#before === undefined ? [] : [memberFromCommand(this.#keys, this.#before)]),
      memberCommand(this.#keys, userId),
    ];
    const replies = await this.#context.connection.pipeline(commands);
    const member = this.#sound(memberFrom(replies.at(-1)));
    if (member === undefined) throw notMember();
    const facts = this.#sound(factsFrom(replies[0]));
    const newest = this.#sound(newestFrom(replies[1]));
    if (facts === undefined) throw this.#damage('factsMissing');
    this.#checkEnd(facts, newest);

    const visibility = max(parseConversationSeq(member.visibleFrom - 1), this.#query.clearedSeq);
    if (this.#after !== undefined && visibility > from) {
      this.#context.observer.redo?.();
      return this.#readIndex(visibility);
    }
    const sequences = this.#sequences(membersFrom(replies[2])).filter((seq) => seq > visibility);
    const [anchor] = this.#before === undefined ? [] : this.#sequences(membersFrom(replies[3]));
    return { facts, sequences, floor: this.#after === undefined ? visibility : max(this.#after, visibility), anchor };
  }

  /** The newest member is what the facts say, or the index has lost its end. */
  #checkEnd(facts: StoredFacts, newest: { readonly member: Buffer; readonly score: number } | undefined): void {
    const head = newest === undefined ? SEQ_ZERO : newest.score === 0 && sequenceFromBytes(newest.member);
    if (head === false || head === undefined) throw this.#damage('indexMemberInvalid');
    if (head < facts.lastSequence) throw this.#damage(newest === undefined ? 'indexMissing' : 'indexBehindFacts', facts.lastSequence);
  }

  #sequences(members: readonly Buffer[] | CorruptReason): ConversationSeq[] {
    return this.#sound(members).map((member) => this.#sound(sequenceFromBytes(member) ?? 'indexMemberInvalid'));
  }

  #header(sequence: ConversationSeq, bytes: RecordBytes): RecordHeader {
    const header = typeof bytes === 'object' ? decodeHeader(bytes) : (bytes ?? 'recordMissing');
    if (typeof header === 'string') throw this.#damage(header, sequence);
    const { tenantId, conversationId } = this.#query;
    if (!checkIdentity(header, tenantId, conversationId, sequence)) throw this.#damage('recordMismatch', sequence);
    return header;
  }

  #checkChain(index: Index, headers: readonly RecordHeader[], anchorBytes: RecordBytes): void {
    const floor = chainFloor(index.floor, index.facts.retainedFrom);
    if (this.#after === undefined) this.#checkBackward(index.sequences, headers, floor, anchorBytes);
    else this.#checkForward(index.sequences, headers, floor);
  }

  #checkForward(sequences: readonly ConversationSeq[], headers: readonly RecordHeader[], floor: ConversationSeq): void {
    for (const [i, header] of headers.entries()) {
      const before = sequences[i - 1];
      const linked = before === undefined ? header.prevSequence <= floor : header.prevSequence === before;
      if (!linked) throw this.#damage('chainBroken', sequences[i]);
    }
  }

  #checkBackward(
    sequences: readonly ConversationSeq[],
    headers: readonly RecordHeader[],
    floor: ConversationSeq,
    anchorBytes: RecordBytes,
  ): void {
    // What the record above says is the one before it. Damage there belongs to that record's own page.
    const anchor = typeof anchorBytes === 'object' ? decodeHeader(anchorBytes) : undefined;
    const expected = typeof anchor === 'object' ? anchor.prevSequence : undefined;
    const [first] = sequences;
    const lost = expected !== undefined && (first === undefined ? expected > floor : expected !== first);
    if (lost) throw this.#damage('chainBroken', expected);
    for (const [i, header] of headers.entries()) {
      const next = sequences[i + 1];
      const linked = next === undefined ? header.prevSequence <= floor : header.prevSequence === next;
      if (!linked) throw this.#damage('chainBroken', sequences[i]);
    }
  }

  /** The whole records, until the page is full. */
  async #takePage(sequences: readonly ConversationSeq[], headers: readonly RecordHeader[], bytes: readonly RecordBytes[]) {
    const count = fetchAhead(headers);
    const apart = sequences.slice(0, count).filter((_, i) => headers[i]?.bodyApart);
    const read = bucketRead((bucket) => this.#keys.bodies(bucket), apart);
    const found = read.valuesFrom(await this.#context.connection.pipeline(read.commands));
    const bodies = new Map(apart.map((seq, i) => [seq, found[i]]));
    const records = sequences.slice(0, count).map((seq, i) => wholeRecord(this.#query, seq, bytes[i], bodies.get(seq)));
    await this.#readDoubtful(sequences, records);
    const page = new PageBudget();
    for (const [i, record] of records.entries()) {
      const whole = this.#sound(record ?? 'recordMissing', sequences[i]);
      if (!page.take(whole)) break;
    }
    return page.records;
  }

  /** Replaces those whose body did not belong to them by what one atomic read says. */
  async #readDoubtful(sequences: readonly ConversationSeq[], records: (MessageRecord | CorruptReason | undefined)[]): Promise<void> {
    const places = records.flatMap((record, i) => (record === 'bodyMissing' || record === 'bodyUnreadable' ? [i] : []));
    if (places.length === 0) return;
    const doubtful = places.map((i) => sequences[i] ?? SEQ_ZERO);
    const again = await readAtomically(this.#context, this.#keys, doubtful);
    for (const [j, i] of places.entries()) {
      records[i] = wholeRecord(this.#query, doubtful[j] ?? SEQ_ZERO, again[j]?.record, again[j]?.body);
    }
  }

  /** @throws CorruptRecord | UnsupportedVersion when it is a reason */
  #sound<T>(value: T | CorruptReason, sequence?: ConversationSeq): Exclude<T, string> {
    if (typeof value === 'string') throw this.#damage(value as CorruptReason, sequence);
    return value as Exclude<T, string>;
  }

  #damage(reason: CorruptReason, sequence?: ConversationSeq): Error {
    return corrupt(this.#query.tenantId, this.#query.conversationId, reason, sequence);
  }
}

function max(a: ConversationSeq, b: ConversationSeq): ConversationSeq {
  return a > b ? a : b;
}
