/**
 * One page of history, with its chain checked on both sides: what lies between the page and the position that was asked
 * for, and between its records, is a hole and not a loss.
 *
 * Round 1 reads facts, the index and then the member entry, round 2 the records and their reactions, round 3 the bodies that
 * are apart, and a last one what the records reply to. The
 * member's floor is not known before round 1: a page forward that began below it is asked for again from there.
 */
import { assert, type ConversationSeq, HISTORY_PAGE_SIZE_MAX, notMember, parseConversationSeq, SEQ_ZERO } from '@qim/proto';
import { isDamage } from '../errors.js';
import { chainFloor } from '../message/chain.js';
import { decodeHeader, type RecordHeader } from '../message/codec.js';
import type { StoredFacts } from '../message/facts.js';
import type { HistoryPage, HistoryQuery } from '../message/message-store.js';
import { PageBudget } from '../message/page-budget.js';
import type { RecordBytes } from '../message/summaries.js';
import type { Command } from './connection.js';
import type { RedisContext } from './context.js';
import {
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
import { later, RecordReads } from './record-reads.js';

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
  /** Nothing that the member may see lies at or below it. */
  readonly visibility: ConversationSeq;
  /** For a page back: the first index member at or past the position. */
  readonly anchor: ConversationSeq | undefined;
}

class HistoryRead {
  readonly #context: RedisContext;
  readonly #query: HistoryQuery;
  readonly #reads: RecordReads;
  /** Undefined: a page back. */
  readonly #after: ConversationSeq | undefined;
  /** Of a page back; undefined: from the newest. */
  readonly #before: ConversationSeq | undefined;

  constructor(context: RedisContext, query: HistoryQuery) {
    const { position } = query;
    this.#context = context;
    this.#query = query;
    this.#reads = new RecordReads(context, query);
    this.#after = position !== 'newest' && 'after' in position ? position.after : undefined;
    this.#before = position !== 'newest' && 'before' in position ? position.before : undefined;
  }

  async page(): Promise<HistoryPage> {
    const index = await this.#readIndex(this.#query.clearedSeq);
    const wanted = index.sequences.slice(0, this.#query.limit);
    const bytes = await this.#reads.messageBytes(index.anchor === undefined ? wanted : [...wanted, index.anchor]);
    const headers = wanted.map((seq, i) => this.#reads.header(seq, bytes.records[i]));
    this.#checkChain(index, headers, index.anchor === undefined ? undefined : bytes.records[wanted.length]);

    const whole = await this.#reads.whole(wanted, headers, bytes.records);
    const { records, reactions } = this.#reads.fill(new PageBudget(), wanted, whole, bytes.reactions);
    const rest = { hasMore: records.length < index.sequences.length, epoch: index.facts.epoch };
    const ascending = this.#after === undefined ? records.toReversed() : records;
    const replyPreviews = await this.#reads.replyPreviews(ascending, index.visibility);
    const inOrder = this.#after === undefined ? new Map([...reactions].reverse()) : reactions;
    return { records: ascending, reactions: inOrder, replyPreviews, ...rest };
  }

  /** `floor`: what the caller knows of what is visible; a page forward starts there when that is past its position. */
  async #readIndex(floor: ConversationSeq): Promise<Index> {
    const { userId, limit } = this.#query;
    const { keys } = this.#reads;
    const from = later(this.#after ?? SEQ_ZERO, floor);
    const commands: Command[] = [
      factsCommand(keys),
      newestCommand(keys),
      this.#after === undefined ? membersBeforeCommand(keys, this.#before, floor, limit + 1) : membersAfterCommand(keys, from, limit + 1),
      ...(this.#before === undefined ? [] : [memberFromCommand(keys, this.#before)]),
      memberCommand(keys, userId),
    ];
    const replies = await this.#context.connection.pipeline(commands);
    const member = this.#reads.sound(memberFrom(replies.at(-1)));
    if (member === undefined) throw notMember();
    const facts = this.#reads.sound(factsFrom(replies[0]));
    const newest = this.#reads.sound(newestFrom(replies[1]));
    if (facts === undefined) throw this.#reads.damage('factsMissing');
    this.#reads.checkEnd(facts, newest);

    const visibility = later(parseConversationSeq(member.visibleFrom - 1), this.#query.clearedSeq);
    if (this.#after !== undefined && visibility > from) {
      this.#context.observer.redo?.();
      return this.#readIndex(visibility);
    }
    const sequences = this.#reads.sequences(membersFrom(replies[2])).filter((seq) => seq > visibility);
    const [anchor] = this.#before === undefined ? [] : this.#reads.sequences(membersFrom(replies[3]));
    const bottom = this.#after === undefined ? visibility : later(this.#after, visibility);
    return { facts, sequences, floor: bottom, visibility, anchor };
  }

  #checkChain(index: Index, headers: readonly RecordHeader[], anchorBytes: RecordBytes): void {
    const floor = chainFloor(index.floor, index.facts.retainedFrom);
    if (this.#after === undefined) this.#checkBackward(index.sequences, headers, floor, anchorBytes);
    else this.#reads.checkForward(index.sequences, headers, floor);
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
    if (lost) throw this.#reads.damage('chainBroken', expected);
    for (const [i, header] of headers.entries()) {
      const next = sequences[i + 1];
      const linked = next === undefined ? header.prevSequence <= floor : header.prevSequence === next;
      if (!linked) throw this.#reads.damage('chainBroken', sequences[i]);
    }
  }
}
