/**
 * One page of history from one snapshot, with its chain checked on both sides: what lies between the page and the
 * position that was asked for, and between its records, is a hole and not a loss.
 */
import {
  assert,
  type ConversationSeq,
  HISTORY_PAGE_SIZE_MAX,
  type MessageRecord,
  parseConversationSeq,
  type Reactions,
  SEQ_ZERO,
} from '@qim/proto';
import { sequenceFromBytes } from '../message/bytes.js';
import { Chain, chainFloor } from '../message/chain.js';
import { decodeHeader } from '../message/codec.js';
import type { StoredFacts } from '../message/facts.js';
import type { HistoryPage, HistoryQuery, ReplyPreviews } from '../message/message-store.js';
import { PageBudget } from '../message/page-budget.js';
import { previewFrom, repliedTo, replyPreviews } from '../message/reply-previews.js';
import { ConversationReads } from './conversation-reads.js';
import type { Snapshot } from './environment.js';
import { everythingUnder } from './keys.js';

/** @throws NotMember | CorruptRecord | UnsupportedVersion */
export function readHistoryPage(snapshot: Snapshot, query: HistoryQuery): HistoryPage {
  assert(query.limit >= 1 && query.limit <= HISTORY_PAGE_SIZE_MAX, 'a page has 1..HISTORY_PAGE_SIZE_MAX records');
  const reads = new ConversationReads(snapshot, query.tenantId, query.conversationId);
  const { facts, member } = reads.membership(query.userId);
  refuseDamagedEnd(reads, facts);

  const visibility = parseConversationSeq(Math.max(member.visibleFrom - 1, query.clearedSeq));
  const { position } = query;
  const taken =
    position !== 'newest' && 'after' in position
      ? takeAfter(reads, facts, parseConversationSeq(Math.max(position.after, visibility)), query.limit, new PageBudget())
      : takeBefore(reads, facts, position === 'newest' ? undefined : position.before, visibility, query.limit);
  return { ...taken, replyPreviews: replyPreviewsOf(reads, taken.records, visibility), epoch: facts.epoch };
}

type Taken = Pick<HistoryPage, 'records' | 'reactions' | 'hasMore'>;

/** Records are read once more for it, from the same snapshot. */
export function replyPreviewsOf(reads: ConversationReads, records: readonly MessageRecord[], floor: ConversationSeq): ReplyPreviews {
  const previews = repliedTo(records, floor).map((seq) => [seq, previewFrom(reads, seq, reads.recordBytes(seq))] as const);
  return replyPreviews(records, new Map(previews));
}

/** The newest member is what the facts say, or the index has lost its end. */
export function refuseDamagedEnd(reads: ConversationReads, facts: StoredFacts): void {
  const newest = reads.newestMember();
  const head = newest === undefined ? SEQ_ZERO : reads.sequenceOf(newest);
  if (head < facts.lastSequence) throw reads.damage(newest === undefined ? 'indexMissing' : 'indexBehindFacts', facts.lastSequence);
}

/** Past `position`, until the budget is used up. */
export function takeAfter(
  reads: ConversationReads,
  facts: StoredFacts,
  position: ConversationSeq,
  limit: number,
  budget: PageBudget,
): Taken {
  const sequences = reads.membersAfter(position, limit + 1).map((member) => reads.sequenceOf(member));
  const chain = new Chain(chainFloor(position, facts.retainedFrom));
  const page = new PageOfRecords(reads, budget);
  for (const seq of sequences.slice(0, limit)) {
    const record = needed(reads, seq);
    if (!chain.follows(seq, record.prevSequence)) throw reads.damage('chainBroken', seq);
    if (!page.take(record)) break;
  }
  const { records, reactions } = page;
  return { records, reactions, hasMore: records.length < sequences.length };
}

/** What fits the budget, in the order in which it is taken. */
export class PageOfRecords {
  readonly records: MessageRecord[] = [];
  readonly reactions = new Map<ConversationSeq, Reactions>();
  readonly #reads: ConversationReads;
  readonly #budget: PageBudget;

  constructor(reads: ConversationReads, budget: PageBudget) {
    this.#reads = reads;
    this.#budget = budget;
  }

  /** False: it does not fit, and nothing after it does. */
  take(record: MessageRecord): boolean {
    const reactions = this.#reads.reactions(record);
    if (!this.#budget.take(record, reactions)) return false;
    this.records.push(record);
    if (reactions !== undefined) this.reactions.set(record.conversationSeq, reactions);
    return true;
  }
}

/** `before` undefined: from the end. */
function takeBefore(
  reads: ConversationReads,
  facts: StoredFacts,
  before: ConversationSeq | undefined,
  visibility: ConversationSeq,
  limit: number,
): Taken {
  const end = before === undefined ? everythingUnder(reads.keys.indexPrefix).end : reads.keys.index(before);
  const sequences = reads.membersBefore(end, visibility, limit + 1).map((member) => reads.sequenceOf(member));
  const floor = chainFloor(visibility, facts.retainedFrom);
  // What the record above says is the one before it.
  let expected = before === undefined ? undefined : prevSequenceAt(reads, before);
  const page = new PageOfRecords(reads, new PageBudget());
  for (const [i, seq] of sequences.slice(0, limit).entries()) {
    if (expected !== undefined && expected !== seq) throw reads.damage('chainBroken', expected);
    const record = needed(reads, seq);
    const next = sequences[i + 1];
    const linked = next === undefined ? record.prevSequence <= floor : record.prevSequence === next;
    if (!linked) throw reads.damage('chainBroken', seq);
    expected = record.prevSequence;
    if (!page.take(record)) break;
  }
  if (sequences.length === 0 && expected !== undefined && expected > floor) throw reads.damage('chainBroken', expected);
  const { records, reactions } = page;
  return { records: records.toReversed(), reactions: new Map([...reactions].reverse()), hasMore: records.length < sequences.length };
}

/** What the first record at or past `position` names as the one before it; undefined when that cannot be told. */
function prevSequenceAt(reads: ConversationReads, position: ConversationSeq): ConversationSeq | undefined {
  const member = reads.memberFrom(position);
  const seq = member === undefined ? undefined : sequenceFromBytes(member);
  const bytes = seq === undefined ? undefined : reads.recordBytes(seq);
  // Damage there belongs to that record's own page.
  const header = bytes === undefined ? 'recordMissing' : decodeHeader(bytes);
  return typeof header === 'string' ? undefined : header.prevSequence;
}

export function needed(reads: ConversationReads, seq: ConversationSeq): MessageRecord {
  const record = reads.record(seq);
  if (record === undefined) throw reads.damage('recordMissing', seq);
  return record;
}
