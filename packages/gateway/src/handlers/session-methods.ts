/** SessionService, by the session. */
import { parseConversationId, parseConversationSeq } from '@qim/proto';
import { type ReadHistoryRequest, SessionService } from '@qim/proto/schema';
import type { HistoryInput, Session } from '@qim/session';
import { type Method, method } from '../method.js';
import { wireConversation, wireMessage } from '../to-wire.js';

export function sessionMethods(session: Session): readonly Method[] {
  const { listConversations, getConversation, markRead, readHistory } = SessionService.method;
  return [
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
    method(markRead, async ({ caller }, request) => {
      const asked = parseConversationSeq(request.readConversationSeq, 'readConversationSeq');
      const held = await session.markRead(caller, parseConversationId(request.conversationId), asked);
      return { readConversationSeq: BigInt(held) };
    }),
    method(readHistory, async ({ caller }, request) => {
      const { messages, hasMore, epoch } = await session.readHistory(caller, historyInput(request));
      return { messages: messages.map(wireMessage), hasMore, epoch: BigInt(epoch) };
    }),
  ];
}

function historyInput({ conversationId, position, limit }: ReadHistoryRequest): HistoryInput {
  return { conversationId: parseConversationId(conversationId), position: historyPosition(position), limit };
}

function historyPosition(position: ReadHistoryRequest['position']): HistoryInput['position'] {
  if (position.case === 'afterSeq') return { after: parseConversationSeq(position.value, 'afterSeq') };
  if (position.case === 'beforeSeq') return { before: parseConversationSeq(position.value, 'beforeSeq') };
  return 'newest';
}
