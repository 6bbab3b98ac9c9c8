/**
 * Read receipts: that a member's mark rose is told to the others where the conversation's setting readReceipts says so, and
 * only to those who may see what was read. A hint like any other: under load it is left out, and marks are in nobody's way.
 */
import {
  type ConversationId,
  type ConversationSeq,
  RECEIPT_MEMBERS_MAX,
  RECEIPTS_IN_FLIGHT_MAX,
  type TenantId,
  type UserId,
} from '@qim/proto';
import { mayKnowOfReading, tellsOfReading } from '@qim/store';
import type { EventBus, PushDeps } from './ports.js';

export interface RisenMark {
  readonly tenantId: TenantId;
  readonly userId: UserId;
  readonly conversationId: ConversationId;
  readonly readConversationSeq: ConversationSeq;
}

export class Receipts {
  readonly #deps: Pick<PushDeps, 'messages' | 'log'> & { readonly bus: EventBus };
  #inFlight = 0;

  constructor(deps: Pick<PushDeps, 'messages' | 'log'> & { readonly bus: EventBus }) {
    this.#deps = deps;
  }

  /** Never throws, and resolves when the others are told or it was left out. Cost: 1; 2 where the setting is on. */
  async tell(mark: RisenMark): Promise<void> {
    if (this.#inFlight >= RECEIPTS_IN_FLIGHT_MAX) return;
    this.#inFlight += 1;
    try {
      const userIds = await this.#readersOf(mark);
      const { tenantId, userId, conversationId, readConversationSeq } = mark;
      const event = { kind: 'readAdvanced', conversationId, userId, readConversationSeq } as const;
      if (userIds.length > 0) this.#deps.bus.announce({ tenantId, event, userIds, except: undefined });
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'a read receipt was not told');
    } finally {
      this.#inFlight -= 1;
    }
  }

  /** Nobody where the setting is off, or the group is larger than RECEIPT_MEMBERS_MAX: each mark of each would go to all. */
  async #readersOf({ tenantId, userId, conversationId, readConversationSeq }: RisenMark): Promise<readonly UserId[]> {
    const { messages } = this.#deps;
    const { facts, member } = await messages.readConversation(tenantId, conversationId, userId);
    if (facts?.settings.readReceipts !== true || member === undefined) return [];
    if (!tellsOfReading(member, readConversationSeq)) return [];
    const members = await messages.readMembers(tenantId, conversationId);
    if (members.size > RECEIPT_MEMBERS_MAX) return [];
    return [...members].filter(([id, other]) => id !== userId && mayKnowOfReading(other, readConversationSeq)).map(([id]) => id);
  }
}
