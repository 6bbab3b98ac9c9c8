/** SessionService, by the session. */
import { parseConversationId, parseConversationSeq } from '@qim/proto';
import { type CatchUpRequest, type ReadHistoryRequest, SessionService } from '@qim/proto/schema';
import type { CatchUpInput, HistoryInput, Session } from '@qim/session';
import { type Method, method } from '../method.js';
import { wireCatchUp, wireConversation, wireMessage } from '../to-wire.js';

export function sessionMethods(session: Session): readonly Method[] {
  const { listConversations, getConversation, readHistory, catchUp, clearHistory, setConversationFlags } = SessionService.method;
  return [
    ...readMarkMethods(session),
    method(listConversations, async ({ caller }, { pageSize, pageToken, explain }) => {
      const page = await session.listConversations(caller, { pageSize, pageToken, explain });
      return {
        conversations: page.conversations.map(wireConversation),
        nextPageToken: page.nextPageToken,
        damagedCount: page.damagedCount,
      };
    }),
    method(getConversation, async ({ caller }, { conversationId, explain }) => ({
      conversation: wireConversation(await session.getConversation(caller, parseConversationId(conversationId), explain)),
    })),
    method(readHistory, async ({ caller }, request) => {
      const { messages, hasMore, epoch } = await session.readHistory(caller, historyInput(request));
      return { messages: messages.map(wireMessage), hasMore, epoch: BigInt(epoch) };
    }),
    method(catchUp, async ({ caller }, request) => wireCatchUp(await session.catchUp(caller, catchUpInput(request)))),
    method(clearHistory, async ({ caller }, request) => {
      const upToSeq = parseConversationSeq(request.upToSeq, 'upToSeq');
      await session.clearHistory(caller, parseConversationId(request.conversationId), upToSeq);
      return {};
    }),
    method(setConversationFlags, async ({ caller }, { conversationId, pinned, muted, hidden, markedUnread }) => {
      const named = Object.entries({ pinned, muted, hidden, markedUnread }).filter(([, value]) => value !== undefined);
      const id = parseConversationId(conversationId);
      return { conversation: wireConversation(await session.setConversationFlags(caller, id, Object.fromEntries(named))) };
    }),
  ];
}

function readMarkMethods(session: Session): readonly Method[] {
  const { markRead, markAllRead, getTotals } = SessionService.method;
  return [
    method(markRead, async ({ caller }, request) => {
      const asked = parseConversationSeq(request.readConversationSeq, 'readConversationSeq');
      const held = await session.markRead(caller, parseConversationId(request.conversationId), asked);
      return { readConversationSeq: BigInt(held) };
    }),
    method(markAllRead, async ({ caller }, request) => {
      const asked = request.upTo.map((mark) => ({
        conversationId: parseConversationId(mark.conversationId, 'upTo.conversationId'),
        conversationSeq: parseConversationSeq(mark.conversationSeq, 'upTo.conversationSeq'),
      }));
      const held = await session.markAllRead(caller, asked);
      return {
        readConversationSeqs: held.map(({ conversationId, conversationSeq }) => ({
          conversationId,
          conversationSeq: BigInt(conversationSeq),
        })),
      };
    }),
    method(getTotals, ({ caller }) => session.getTotals(caller)),
  ];
}

function catchUpInput({ conversationId, epoch, afterSeq, amendmentCursor, limit }: CatchUpRequest): CatchUpInput {
  return {
    conversationId: parseConversationId(conversationId),
    // Both are numbers of the range of a sequence.
    epoch: parseConversationSeq(epoch, 'epoch'),
    after: parseConversationSeq(afterSeq, 'afterSeq'),
    amendmentCursor: parseConversationSeq(amendmentCursor, 'amendmentCursor'),
    limit,
  };
}

function historyInput({ conversationId, position, limit }: ReadHistoryRequest): HistoryInput {
  return { conversationId: parseConversationId(conversationId), position: historyPosition(position), limit };
}

function historyPosition(position: ReadHistoryRequest['position']): HistoryInput['position'] {
  if (position.case === 'afterSeq') return { after: parseConversationSeq(position.value, 'afterSeq') };
  if (position.case === 'beforeSeq') return { before: parseConversationSeq(position.value, 'beforeSeq') };
  return 'newest';
}
