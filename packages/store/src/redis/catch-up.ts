/**
 * What a device missed: new records as a page of history forward, and the present state of held ones that were amended.
 *
 * Round 1 reads facts, the end of the index, what is new of it, the amendments past the cursor and then the member entry;
 * round 2 the records and their reactions, round 3 the bodies that are apart, and a last one
 * what the records reply to. The cursor of the answer comes from the facts, so it is older
 * than every record of it: an amendment that falls between the rounds is told now, or again by the next call.
 */
import { assert, type ConversationSeq, HISTORY_PAGE_SIZE_MAX, notMember, parseConversationSeq } from '@qim/proto';
import { isDamage } from '../errors.js';
import { sequenceFromBytes } from '../message/bytes.js';
import { type Amendment, AmendmentPage, mustReset } from '../message/catch-up.js';
import { chainFloor } from '../message/chain.js';
import type { StoredFacts } from '../message/facts.js';
import type { CatchUpPage, CatchUpQuery } from '../message/message-store.js';
import { PageBudget } from '../message/page-budget.js';
import { isWrongType, type Reply } from './connection.js';
import type { RedisContext } from './context.js';
import {
  factsCommand,
  factsFrom,
  memberCommand,
  memberFrom,
  membersAfterCommand,
  membersFrom,
  newestCommand,
  newestFrom,
} from './reads.js';
import { later, RecordReads } from './record-reads.js';
import { asArray, asBuffer, asDecimal } from './replies.js';

/** @throws NotMember | CorruptRecord | UnsupportedVersion */
export async function catchUp(context: RedisContext, query: CatchUpQuery): Promise<CatchUpPage> {
  assert(query.limit >= 1 && query.limit <= HISTORY_PAGE_SIZE_MAX, 'a page has 1..HISTORY_PAGE_SIZE_MAX records');
  try {
    return await readPage(context, query);
  } catch (error) {
    if (!isDamage(error)) throw error;
    // Something may have been removed between two rounds; only what is still wrong is damage.
    context.observer.redo?.();
    return await readPage(context, query);
  }
}

/** What round 1 found. */
interface Missed {
  readonly facts: StoredFacts;
  /** One more than the limit when there are more. */
  readonly sequences: readonly ConversationSeq[];
  /** None of them lies at or below it. */
  readonly floor: ConversationSeq;
  /** Nothing that the member may see lies at or below it. */
  readonly visibility: ConversationSeq;
  readonly amendments: AmendmentPage;
}

async function readPage(context: RedisContext, query: CatchUpQuery): Promise<CatchUpPage> {
  const reads = new RecordReads(context, query);
  const missed = await readMissed(context, reads, query, later(query.after, query.clearedSeq));
  if ('kind' in missed) return missed;
  const { facts, sequences, floor, amendments } = missed;
  const wanted = sequences.slice(0, query.limit);
  const held = amendments.wanted.map(({ sequence }) => sequence);
  const bytes = await reads.messageBytes([...wanted, ...held]);
  const headers = wanted.map((seq, i) => reads.header(seq, bytes.records[i]));
  reads.checkForward(sequences, headers, chainFloor(floor, facts.retainedFrom));
  const heldBytes = bytes.records.slice(wanted.length);
  const heldHeaders = held.map((seq, i) => reads.header(seq, heldBytes[i]));

  const [news, present] = await Promise.all([reads.whole(wanted, headers, bytes.records), reads.whole(held, heldHeaders, heldBytes)]);
  const budget = new PageBudget();
  const { records, reactions } = reads.fill(budget, wanted, news, bytes.reactions);
  const filled = reads.fill(budget, held, present, bytes.reactions.slice(wanted.length));
  const amended = filled.records;
  const next = amendments.after(amended.length);
  const replyPreviews = await reads.replyPreviews([...records, ...amended], missed.visibility);
  return {
    kind: 'page',
    records,
    amended,
    reactions: new Map([...reactions, ...filled.reactions]),
    replyPreviews,
    hasMore: records.length < sequences.length || next.more,
    nextAfter: records.at(-1)?.conversationSeq ?? query.after,
    nextAmendmentCursor: next.cursor,
    epoch: facts.epoch,
  };
}

/** `from`: where the new ones begin as far as the caller knows; asked for again when the member may see less. */
async function readMissed(
  context: RedisContext,
  reads: RecordReads,
  query: CatchUpQuery,
  from: ConversationSeq,
): Promise<Missed | Extract<CatchUpPage, { kind: 'reset' }>> {
  const { keys } = reads;
  const { limit, amendmentCursor } = query;
  const replies = await context.connection.pipeline([
    factsCommand(keys),
    newestCommand(keys),
    membersAfterCommand(keys, from, limit + 1),
    ['ZRANGEBYSCORE', keys.amendments, `(${amendmentCursor}`, '+inf', 'WITHSCORES', 'LIMIT', '0', String(limit + 1)],
    memberCommand(keys, query.userId),
  ]);
  const member = reads.sound(memberFrom(replies[4]));
  if (member === undefined) throw notMember();
  const facts = reads.sound(factsFrom(replies[0]));
  if (facts === undefined) throw reads.damage('factsMissing');
  reads.checkEnd(facts, reads.sound(newestFrom(replies[1])));
  if (mustReset(query, facts)) return { kind: 'reset', epoch: facts.epoch };

  const visibility = later(parseConversationSeq(member.visibleFrom - 1), query.clearedSeq);
  if (visibility > from) {
    context.observer.redo?.();
    return readMissed(context, reads, query, visibility);
  }
  const sequences = reads.sequences(membersFrom(replies[2]));
  const amendments = new AmendmentPage(query, facts, visibility, amendmentsFrom(reads, replies[3]));
  if (amendments.lacksNewest) throw reads.damage('indexBehindFacts');
  return { facts, sequences, floor: from, visibility, amendments };
}

function amendmentsFrom(reads: RecordReads, reply: Reply | undefined): Amendment[] {
  if (isWrongType(reply)) throw reads.damage('wrongType');
  const values = asArray(reply);
  const amendments: Amendment[] = [];
  for (let i = 0; i + 1 < values.length; i += 2) {
    const sequence = reads.sound(sequenceFromBytes(asBuffer(values[i])) ?? 'indexMemberInvalid');
    amendments.push({ sequence, number: asDecimal(values[i + 1]) });
  }
  return amendments;
}
