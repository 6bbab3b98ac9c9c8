/** Catch-up of the reference model. */
import { assert, HISTORY_PAGE_SIZE_MAX, type MessageRecord, notMember } from '@qim/proto';
import type { CatchUpPage, CatchUpQuery } from '../message/message-store.js';
import { reactionsOf } from './amend.js';
import { messageBytes, pageIsFull, pageLength } from './page-length.js';
import { replyPreviewsOf } from './preview.js';
import type { MemoryConversation, MemoryState } from './state.js';

export function catchUp(state: MemoryState, query: CatchUpQuery): CatchUpPage {
  assert(query.limit >= 1 && query.limit <= HISTORY_PAGE_SIZE_MAX, 'a page has 1..HISTORY_PAGE_SIZE_MAX records');
  const conversation = state.conversation(query.tenantId, query.conversationId);
  const member = conversation?.members.get(query.userId);
  if (conversation === undefined || member === undefined) throw notMember();
  const { epoch, lastSequence, amendmentNumber, retainedFrom } = conversation.facts;
  const foreign = query.epoch !== epoch || query.after > lastSequence || query.amendmentCursor > amendmentNumber;
  if (query.epoch !== 0 && foreign) return { kind: 'reset', epoch };

  const visibility = Math.max(member.visibleFrom - 1, query.clearedSeq);
  const following = [...conversation.records.values()].filter(
    ({ conversationSeq }) => conversationSeq > query.after && conversationSeq > visibility,
  );
  const records = following.slice(0, pageLength(conversation, following, query.limit));
  const used = records.reduce((bytes, record) => bytes + messageBytes(conversation, record), 0);
  const amended = amendedSince(conversation, query, Math.max(visibility, retainedFrom - 1), records.length > 0 ? used : undefined);
  return {
    kind: 'page',
    records,
    amended: amended.records,
    reactions: reactionsOf(conversation, [...records, ...amended.records]),
    replyPreviews: replyPreviewsOf(conversation, [...records, ...amended.records], visibility),
    hasMore: records.length < following.length || amended.more,
    nextAfter: records.at(-1)?.conversationSeq ?? query.after,
    nextAmendmentCursor: amended.cursor,
    epoch,
  };
}

/** `used`: bytes of the page that are taken; undefined: there is nothing on it yet. */
function amendedSince(conversation: MemoryConversation, query: CatchUpQuery, floor: number, used: number | undefined) {
  const { records, amendments, facts } = conversation;
  const told: MessageRecord[] = [];
  const everything = { cursor: facts.amendmentNumber, more: false };
  if (query.after <= floor) return { records: told, ...everything };
  let [cursor, bytes] = [query.amendmentCursor, used];
  const past = [...amendments].filter(([, number]) => number > query.amendmentCursor).sort(([, a], [, b]) => a - b);
  for (const [i, [sequence, number]] of past.entries()) {
    const record = records.get(sequence);
    if (i === query.limit) return { records: told, cursor, more: true };
    if (record !== undefined && sequence > floor && sequence <= query.after) {
      bytes = (bytes ?? 0) + messageBytes(conversation, record);
      if (pageIsFull(bytes, told.length > 0 || used !== undefined)) return { records: told, cursor, more: true };
      told.push(record);
    }
    cursor = number;
  }
  return { records: told, ...everything };
}
