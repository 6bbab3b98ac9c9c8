/**
 * The typed calls: generated clients in, own values out. Reads, MarkRead and calls with an idempotency key are made again
 * after a failure that may pass; the other writes are not, and say `outcomeUnknown` when they may have taken effect.
 */
import { create } from '@bufbuild/protobuf';
import { createClient, type Transport, type Client as TypedClient } from '@connectrpc/connect';
import { CALL_TIMEOUT_MS, ControlKind, HistoryVisibility, MessageType } from '@qim/proto';
import * as wire from '@qim/proto/schema';
import type { Environment } from './environment.js';
import { fromConnectError, invalidArgument } from './errors.js';
import { conversationFrom, integer, memberFrom, messageFrom } from './from-wire.js';
import type {
  CatchUpInput,
  CreateGroupInput,
  EditMessageInput,
  MessageRef,
  OutgoingContent,
  ReadHistoryInput,
  SendMessageInput,
} from './inputs.js';
import { retrying } from './retry.js';
import type { CatchUpPage, Conversation, ConversationPage, HistoryPage, MemberPage, Message } from './types.js';

export interface SentMessage {
  readonly message: Message;
  /** This client message id was committed before. */
  readonly duplicate: boolean;
}

export class Api {
  readonly #environment: Environment;
  readonly #messages: TypedClient<typeof wire.MessageService>;
  readonly #session: TypedClient<typeof wire.SessionService>;
  readonly #conversations: TypedClient<typeof wire.ConversationService>;

  constructor(transport: Transport, environment: Environment) {
    this.#environment = environment;
    this.#messages = createClient(wire.MessageService, transport);
    this.#session = createClient(wire.SessionService, transport);
    this.#conversations = createClient(wire.ConversationService, transport);
  }

  /** One try; the outbox makes it again. */
  async sendOnce(input: SendMessageInput & { readonly clientMessageId: string }, timeoutMs: number): Promise<SentMessage> {
    const content: OutgoingContent = typeof input.content === 'string' ? { kind: 'text', text: input.content } : input.content;
    const request = create(wire.SendMessageRequestSchema, {
      target:
        'conversationId' in input.target
          ? { case: 'conversationId', value: input.target.conversationId }
          : { case: 'toUserId', value: input.target.toUserId },
      clientMessageId: input.clientMessageId,
      // An open enum: any number may be sent.
      type: (input.type ?? DEFAULT_TYPES[content.kind]) as wire.MessageType,
      body: sendBody(content),
      mentionUserIds: [...(input.mentionUserIds ?? [])],
      mentionAll: input.mentionAll ?? false,
      readConversationSeq: wireInteger(input.readConversationSeq ?? 0, 'readConversationSeq'),
    });
    const { replyTo } = input;
    if (replyTo !== undefined) {
      const conversationSeq = wireInteger(replyTo.conversationSeq, 'replyTo');
      request.replyTo = create(wire.ReplyToSchema, { conversationSeq, messageId: replyTo.messageId });
    }
    const answer = await calling(() => this.#messages.sendMessage(request, { timeoutMs }));
    return { message: messageFrom(answer.message), duplicate: answer.duplicate };
  }

  async editMessage(input: EditMessageInput): Promise<Message> {
    const { content } = input;
    const body =
      typeof content === 'string'
        ? ({ case: 'text', value: content } as const)
        : ({ case: 'content', value: create(wire.ContentSchema, { contentType: content.contentType, data: content.data }) } as const);
    const mentions = { mentionUserIds: [...(input.mentionUserIds ?? [])], mentionAll: input.mentionAll ?? false };
    const answer = await calling(() => this.#messages.editMessage({ ...wireRef(input), body, ...mentions }));
    return messageFrom(answer.message);
  }

  async recallMessage(ref: MessageRef): Promise<Message> {
    const answer = await calling(() => this.#messages.recallMessage(wireRef(ref)));
    return messageFrom(answer.message);
  }

  async deleteMessage(ref: MessageRef): Promise<Message> {
    const answer = await calling(() => this.#messages.deleteMessage(wireRef(ref)));
    return messageFrom(answer.message);
  }

  listConversations(pageSize: number, pageToken: string): Promise<ConversationPage> {
    return this.#again(async (timeoutMs) => {
      const answer = await this.#session.listConversations({ pageSize, pageToken }, { timeoutMs });
      const conversations = answer.conversations.map(conversationFrom);
      return { conversations, nextPageToken: answer.nextPageToken, damagedCount: answer.damagedCount };
    });
  }

  getConversation(conversationId: string): Promise<Conversation> {
    return this.#again(async (timeoutMs) => {
      const answer = await this.#session.getConversation({ conversationId }, { timeoutMs });
      return conversationFrom(answer.conversation);
    });
  }

  async readHistory({ conversationId, afterSeq, beforeSeq, limit }: ReadHistoryInput): Promise<HistoryPage> {
    const position = positionOf(afterSeq, beforeSeq);
    return this.#again(async (timeoutMs) => {
      const answer = await this.#session.readHistory({ conversationId, position, limit: limit ?? 0 }, { timeoutMs });
      return { messages: answer.messages.map(messageFrom), hasMore: answer.hasMore, epoch: integer(answer.epoch) };
    });
  }

  async catchUp({ conversationId, epoch, afterSeq, amendmentCursor, limit }: CatchUpInput): Promise<CatchUpPage> {
    const cursors = {
      epoch: wireInteger(epoch, 'epoch'),
      afterSeq: wireInteger(afterSeq, 'afterSeq'),
      amendmentCursor: wireInteger(amendmentCursor, 'amendmentCursor'),
    };
    return this.#again(async (timeoutMs) => {
      const answer = await this.#session.catchUp({ conversationId, ...cursors, limit }, { timeoutMs });
      if (answer.reset) return { reset: true };
      return {
        reset: false,
        messages: answer.messages.map(messageFrom),
        amended: answer.amended.map(messageFrom),
        hasMore: answer.hasMore,
        nextAfterSeq: integer(answer.nextAfterSeq),
        nextAmendmentCursor: integer(answer.nextAmendmentCursor),
        epoch: integer(answer.epoch),
      };
    });
  }

  async markRead(conversationId: string, seq: number): Promise<number> {
    const readConversationSeq = wireInteger(seq, 'readConversationSeq');
    return this.#again(async (timeoutMs) => {
      const answer = await this.#session.markRead({ conversationId, readConversationSeq }, { timeoutMs });
      return integer(answer.readConversationSeq);
    });
  }

  /** The request id is made once, so that a retry answers with the first one's group. */
  createGroup(input: CreateGroupInput): Promise<Conversation> {
    const request = {
      clientRequestId: this.#environment.newId(),
      title: input.title,
      memberIds: [...input.memberIds],
      historyVisibility: input.historyVisibility === 'all' ? HistoryVisibility.All : HistoryVisibility.FromJoining,
      onlyAdminsPost: input.onlyAdminsPost ?? false,
    };
    return this.#again(async (timeoutMs) => {
      const answer = await this.#conversations.createGroup(request, { timeoutMs });
      return conversationFrom(answer.conversation);
    });
  }

  /** Repeating it is harmless: who is a member already stays as he is. */
  addMembers(conversationId: string, memberIds: readonly string[]): Promise<Conversation> {
    return this.#again(async (timeoutMs) => {
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

  listMembers(conversationId: string, pageToken: string): Promise<MemberPage> {
    return this.#again(async (timeoutMs) => {
      const answer = await this.#conversations.listMembers({ conversationId, pageToken }, { timeoutMs });
      return { members: answer.members.map(memberFrom), nextPageToken: answer.nextPageToken };
    });
  }

  #again<T>(run: (timeoutMs: number) => Promise<T>): Promise<T> {
    return retrying(this.#environment, { withinMs: CALL_TIMEOUT_MS }, (leftMs) => calling(() => run(leftMs)));
  }
}

async function calling<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw fromConnectError(error);
  }
}

const DEFAULT_TYPES = { text: MessageType.Text, data: MessageType.Custom, app: MessageType.Control } as const;

function sendBody(content: OutgoingContent): wire.SendMessageRequest['body'] {
  switch (content.kind) {
    case 'text':
      return { case: 'text', value: content.text };
    case 'data':
      return { case: 'content', value: create(wire.ContentSchema, { contentType: content.contentType, data: content.data }) };
    case 'app': {
      const { appType, appData } = content;
      return { case: 'control', value: create(wire.ControlSchema, { kind: ControlKind.App, appType, appData }) };
    }
  }
}

function positionOf(afterSeq: number | undefined, beforeSeq: number | undefined): wire.ReadHistoryRequest['position'] {
  if (afterSeq !== undefined && beforeSeq !== undefined) throw invalidArgument('beforeSeq', 'beforeSeq must be absent beside afterSeq');
  if (afterSeq !== undefined) return { case: 'afterSeq', value: wireInteger(afterSeq, 'afterSeq') };
  if (beforeSeq !== undefined) return { case: 'beforeSeq', value: wireInteger(beforeSeq, 'beforeSeq') };
  return { case: undefined };
}

function wireRef(ref: MessageRef) {
  const { conversationId, messageId } = ref;
  return { conversationId, messageId, conversationSeq: wireInteger(ref.conversationSeq, 'conversationSeq') };
}

/** @throws QimClientError INVALID_ARGUMENT with the field: BigInt itself would throw an error without one. */
function wireInteger(value: number, field: string): bigint {
  if (Number.isSafeInteger(value)) return BigInt(value);
  throw invalidArgument(field, `${field} must be an integer`);
}
