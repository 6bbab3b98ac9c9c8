/** EventService but its stream, which the transports serve themselves. */
import { parseConversationId } from '@qim/proto';
import { EventService } from '@qim/proto/schema';
import type { Session } from '@qim/session';
import { type Method, method } from '../method.js';

export function eventMethods(session: Session): readonly Method[] {
  return [
    method(EventService.method.setTyping, async ({ caller }, { conversationId, on }) => {
      await session.setTyping(caller, parseConversationId(conversationId), on);
      return {};
    }),
  ];
}
