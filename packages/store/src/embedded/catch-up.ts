/** What a device missed, from one snapshot: new records with their chain, and the present state of amended ones. */
import { assert, type ConversationSeq, HISTORY_PAGE_SIZE_MAX, parseConversationSeq } from '@qim/proto';
import { sequenceFromBytes } from '../message/bytes.js';
import { type Amendment, AmendmentPage, mustReset } from '../message/catch-up.js';
import type { CatchUpPage, CatchUpQuery } from '../message/message-store.js';
import { PageBudget } from '../message/page-budget.js';
import { ConversationReads } from './conversation-reads.js';
import type { Snapshot } from './environment.js';
import { needed, PageOfRecords, refuseDamagedEnd, replyPreviewsOf, takeAfter } from './history.js';

/** @throws NotMember | CorruptRecord | UnsupportedVersion */
export function readCatchUpPage(snapshot: Snapshot, query: CatchUpQuery): CatchUpPage {
  assert(query.limit >= 1 && query.limit <= HISTORY_PAGE_SIZE_MAX, 'a page has 1..HISTORY_PAGE_SIZE_MAX records');
  const reads = new ConversationReads(snapshot, query.tenantId, query.conversationId);
  const { facts, member } = reads.membership(query.userId);
  const { epoch } = facts;
  refuseDamagedEnd(reads, facts);
  if (mustReset(query, facts)) return { kind: 'reset', epoch };

  const visibility = parseConversationSeq(Math.max(member.visibleFrom - 1, query.clearedSeq));
  const budget = new PageBudget();
  const from = parseConversationSeq(Math.max(query.after, visibility));
  const { records, reactions, hasMore } = takeAfter(reads, facts, from, query.limit, budget);
  const amendments = new AmendmentPage(query, facts, visibility, amendmentsPast(reads, query));
  if (amendments.lacksNewest) throw reads.damage('indexBehindFacts');
  const amended = new PageOfRecords(reads, budget);
  for (const { sequence } of amendments.wanted) if (!amended.take(needed(reads, sequence))) break;
  const next = amendments.after(amended.records.length);
  return {
    kind: 'page',
    records,
    amended: amended.records,
    reactions: new Map([...reactions, ...amended.reactions]),
    replyPreviews: replyPreviewsOf(reads, [...records, ...amended.records], visibility),
    hasMore: hasMore || next.more,
    nextAfter: records.at(-1)?.conversationSeq ?? query.after,
    nextAmendmentCursor: next.cursor,
    epoch,
  };
}

function amendmentsPast(reads: ConversationReads, { amendmentCursor, limit }: CatchUpQuery): Amendment[] {
  return reads.amendmentsAfter(amendmentCursor, limit + 1).map(({ number, member }) => {
    const sequence: ConversationSeq | undefined = sequenceFromBytes(member);
    if (sequence === undefined || number === undefined) throw reads.damage('indexMemberInvalid');
    return { sequence, number };
  });
}
