/** Faults put between the services and their store. */
import { parseConversationId } from '@qim/proto';
import { corrupt, type Store } from '@qim/store';

/** The conversation reads as damaged, with nothing of its facts, once the set holds its id. */
export function damaging(store: Store, damaged: ReadonlySet<string>): Store {
  const { messages } = store;
  return {
    ...store,
    messages: {
      ...messages,
      async readConversations(tenantId, userId, states) {
        const readings = await messages.readConversations(tenantId, userId, states);
        return readings.map((reading, index) => {
          const conversationId = states[index]?.conversationId ?? '';
          if (!damaged.has(conversationId) || reading.kind === 'damaged') return reading;
          const id = parseConversationId(conversationId);
          const error = corrupt(tenantId, id, 'recordMissing');
          return { kind: 'damaged', conversationId: id, error, listing: undefined, member: reading.listing.member, memberKnown: true };
        });
      },
    },
  };
}
