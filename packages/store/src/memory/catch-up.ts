/** Catch-up of the reference model. */
import { assert, HISTORY_PAGE_SIZE_MAX, type MessageRecord, notMember, parseConversationSeq } from '@qim/proto';
import { AmendmentPage, mustReset } from '../message/catch-up.js';
import type { CatchUpPage, CatchUpQuery } from '../message/message-store.js';
import { PageBudget } from '../message/page-budget.js';
import type { MemoryState } from './state.js';

export function catchUp(state: MemoryState, query: CatchUpQuery): CatchUpPage {
  assert(query.limit >= 1 && query.limit <= HISTORY_PAGE_SIZE_MAX, 'a page has 1..HISTORY_PAGE_SIZE_MAX records');
  const conversation = state.conversation(query.tenantId, query.conversationId);
  const member = conversation?.members.get(query.userId);
  if (conversation === undefined || member === undefined) throw notMember();
  const { facts, amendments } = conversation;
  const { epoch } = facts;
  if (mustReset(query, facts)) return { kind: 'reset', epoch };

  const visibility = parseConversationSeq(Math.max(member.visibleFrom - 1, query.clearedSeq));
  const following = [...conversation.records.values()].filter(({ conversationSeq }) => conversationSeq > Math.max(query.after, visibility));
  const past = [...amendments]
    .map(([sequence, number]) => ({ sequence, number }))
    .filter(({ number }) => number > query.amendmentCursor)
    .sort((a, b) => a.number - b.number);
  const page = new AmendmentPage(query, facts, visibility, past.slice(0, query.limit + 1));
  const held = page.wanted.map(({ sequence }) => conversation.records.get(sequence) as MessageRecord);

  const budget = new PageBudget();
  const records = budget.takeFrom(following.slice(0, query.limit));
  const amended = budget.takeFrom(held);
  const next = page.after(amended.length);
  return {
    kind: 'page',
    records,
    amended,
    hasMore: records.length < following.length || next.more,
    nextAfter: records.at(-1)?.conversationSeq ?? query.after,
    nextAmendmentCursor: next.cursor,
    epoch,
  };
}
