/** ConversationService: changed by the writer, then read back by the session, so that the answer is what a list shows. */
import { type Caller, type ConversationId, parseClientMessageId, parseConversationId, parseUserId } from '@qim/proto';
import { ConversationService, type CreateGroupRequest, type UpdateConversationRequest } from '@qim/proto/schema';
import type { Session } from '@qim/session';
import type { CreateGroupInput, UpdateConversationInput, Writer } from '@qim/writer';
import { historyVisibility, namedHistoryVisibility, role, userIds } from '../from-wire.js';
import { type Method, method } from '../method.js';
import { wireConversation, wireMember } from '../to-wire.js';

export function conversationMethods(writer: Writer, session: Session): readonly Method[] {
  const { createGroup, addMembers, removeMember, leaveGroup, setRole, updateConversation, listMembers } = ConversationService.method;
  const asItIsNow = async (caller: Caller, conversationId: ConversationId) => ({
    conversation: wireConversation(await session.getConversation(caller, conversationId, false)),
  });
  return [
    method(createGroup, async ({ caller }, request) => asItIsNow(caller, await writer.createGroup(caller, groupInput(request)))),
    method(addMembers, async ({ caller }, request) => {
      const conversationId = parseConversationId(request.conversationId);
      await writer.addMembers(caller, conversationId, userIds(request.memberIds, 'memberIds'));
      return asItIsNow(caller, conversationId);
    }),
    method(removeMember, async ({ caller }, request) => {
      const conversationId = parseConversationId(request.conversationId);
      await writer.removeMember(caller, conversationId, parseUserId(request.userId));
      return asItIsNow(caller, conversationId);
    }),
    method(leaveGroup, async ({ caller }, request) => {
      await writer.leaveGroup(caller, parseConversationId(request.conversationId));
      return {};
    }),
    method(setRole, async ({ caller }, request) => {
      const conversationId = parseConversationId(request.conversationId);
      await writer.setRole(caller, conversationId, parseUserId(request.userId), role(request.role));
      return asItIsNow(caller, conversationId);
    }),
    method(updateConversation, async ({ caller }, request) => {
      const input = updateInput(request);
      await writer.updateConversation(caller, input);
      return asItIsNow(caller, input.conversationId);
    }),
    method(listMembers, async ({ caller }, { conversationId: id, pageToken, readMarks }) => {
      const conversationId = parseConversationId(id);
      const page = await session.listMembers(caller, conversationId, pageToken);
      const marks = readMarks ? await session.othersRead(caller, conversationId) : undefined;
      return { members: page.members.map((member) => wireMember(member, marks?.get(member.userId))), nextPageToken: page.nextPageToken };
    }),
  ];
}

function groupInput(request: CreateGroupRequest): CreateGroupInput {
  const { clientRequestId } = request;
  return {
    clientRequestId: clientRequestId === '' ? undefined : parseClientMessageId(clientRequestId, 'clientRequestId'),
    title: request.title,
    memberIds: userIds(request.memberIds, 'memberIds'),
    historyVisibility: historyVisibility(request.historyVisibility),
    onlyAdminsPost: request.onlyAdminsPost,
    readReceipts: request.readReceipts,
  };
}

function updateInput(request: UpdateConversationRequest): UpdateConversationInput {
  const { title, historyVisibility: visibility, onlyAdminsPost, readReceipts } = request;
  return {
    conversationId: parseConversationId(request.conversationId),
    title,
    settings: {
      historyVisibility: visibility === undefined ? undefined : namedHistoryVisibility(visibility),
      onlyAdminsPost,
      readReceipts,
    },
  };
}
