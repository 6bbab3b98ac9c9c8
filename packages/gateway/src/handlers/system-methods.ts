/** What of AdminService a backend does in conversations, as the system. That the token has `admin: true` was checked before. */
import { parseConversationId, parseUserId } from '@qim/proto';
import { type AdminCreateConversationRequest, AdminService } from '@qim/proto/schema';
import type { Session } from '@qim/session';
import type { CreateConversationInput, Writer } from '@qim/writer';
import { historyVisibility, userIds } from '../from-wire.js';
import { type Method, method } from '../method.js';
import { wireConversation, wireSent } from '../to-wire.js';
import { sendInput } from './message-methods.js';

export function systemMethods(writer: Writer, session: Session): readonly Method[] {
  return [
    method(AdminService.method.createConversation, async ({ caller }, request) => {
      const input = conversationInput(request);
      await writer.createConversation(caller, input);
      // As its owner sees it: the admin's own user need not be in it.
      const owner = { ...caller, userId: input.ownerUserId };
      return { conversation: wireConversation(await session.getConversation(owner, input.conversationId, false)) };
    }),
    method(AdminService.method.sendMessage, async ({ caller }, request) => wireSent(await writer.sendAsSystem(caller, sendInput(request)))),
  ];
}

function conversationInput({ settings, ...request }: AdminCreateConversationRequest): CreateConversationInput {
  return {
    conversationId: parseConversationId(request.conversationId),
    title: request.title,
    ownerUserId: parseUserId(request.ownerUserId, 'ownerUserId'),
    memberIds: userIds(request.memberIds, 'memberIds'),
    settings: {
      historyVisibility: historyVisibility(settings?.historyVisibility ?? 0, 'settings.historyVisibility'),
      onlyAdminsPost: settings?.onlyAdminsPost ?? false,
      readReceipts: settings?.readReceipts ?? false,
    },
  };
}
