/** Groups and their members. What is harmless to repeat is made again after a failure that may pass; the rest is not. */
import { conversationFrom, integer, memberFrom, wireRole, wireVisibility } from '../from-wire.js';
import type { AssignableRole, CreateGroupInput, UpdateConversationInput } from '../inputs.js';
import type { Conversation, MemberPage } from '../types.js';
import { type ServiceCalls, serviceOver } from '../wire/service.js';
import { again, type CallContext, calling } from './wire-calls.js';

export class ConversationApi {
  readonly #context: CallContext;
  readonly #conversations: ServiceCalls<'ConversationService'>;

  constructor(context: CallContext) {
    this.#context = context;
    this.#conversations = serviceOver('ConversationService', context.caller);
  }

  /** The request id is made once, so that a retry answers with the first one's group. */
  createGroup(input: CreateGroupInput): Promise<Conversation> {
    const request = {
      clientRequestId: this.#context.environment.newId(),
      title: input.title,
      memberIds: [...input.memberIds],
      historyVisibility: wireVisibility(input.historyVisibility ?? 'fromJoining'),
      onlyAdminsPost: input.onlyAdminsPost ?? false,
      readReceipts: input.readReceipts ?? false,
    };
    return again(this.#context, async (timeoutMs) => {
      const answer = await this.#conversations.createGroup(request, { timeoutMs });
      return conversationFrom(answer.conversation);
    });
  }

  /** Repeating it is harmless: who is a member already stays as he is. */
  addMembers(conversationId: string, memberIds: readonly string[]): Promise<Conversation> {
    return again(this.#context, async (timeoutMs) => {
      const answer = await this.#conversations.addMembers({ conversationId, memberIds: [...memberIds] }, { timeoutMs });
      return conversationFrom(answer.conversation);
    });
  }

  async removeMember(conversationId: string, userId: string): Promise<Conversation> {
    const answer = await calling(() => this.#conversations.removeMember({ conversationId, userId }));
    return conversationFrom(answer.conversation);
  }

  async leaveGroup(conversationId: string): Promise<void> {
    await calling(() => this.#conversations.leaveGroup({ conversationId }));
  }

  /** Repeating it is harmless. */
  setRole(conversationId: string, userId: string, role: AssignableRole): Promise<Conversation> {
    return again(this.#context, async (timeoutMs) => {
      const answer = await this.#conversations.setRole({ conversationId, userId, role: wireRole(role) }, { timeoutMs });
      return conversationFrom(answer.conversation);
    });
  }

  /** What is absent stays as it is. Repeating it is harmless. */
  updateConversation(conversationId: string, { historyVisibility, ...input }: UpdateConversationInput): Promise<Conversation> {
    const request = { conversationId, ...input, ...(historyVisibility && { historyVisibility: wireVisibility(historyVisibility) }) };
    return again(this.#context, async (timeoutMs) => {
      const answer = await this.#conversations.updateConversation(request, { timeoutMs });
      return conversationFrom(answer.conversation);
    });
  }

  /** How far the others have read, by user, as far as receipts tell: a group that has them fits into one page. */
  readMarks(conversationId: string): Promise<ReadonlyMap<string, number>> {
    return again(this.#context, async (timeoutMs) => {
      const { members } = await this.#conversations.listMembers({ conversationId, readMarks: true }, { timeoutMs });
      return new Map(members.flatMap(({ userId, readConversationSeq: seq }) => (seq === undefined ? [] : [[userId, integer(seq)]])));
    });
  }

  listMembers(conversationId: string, pageToken: string): Promise<MemberPage> {
    return again(this.#context, async (timeoutMs) => {
      const answer = await this.#conversations.listMembers({ conversationId, pageToken }, { timeoutMs });
      return { members: answer.members.map(memberFrom), nextPageToken: answer.nextPageToken };
    });
  }
}
