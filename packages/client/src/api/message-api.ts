/** Sending and amending. Only the setting of a reaction is made again after a failure: it is harmless to repeat. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { ControlKind } from '@qim/proto';
import type * as wire from '@qim/proto/schema';
import { messageFrom } from '../from-wire.js';
import type { EditMessageInput, MessageRef, OutgoingContent, SendMessageInput } from '../inputs.js';
import { MessageType } from '../message-type.js';
import type { Message } from '../types.js';
import { type ServiceCalls, serviceOver } from '../wire/service.js';
import { again, type CallContext, calling, wireInteger, wireRef } from './wire-calls.js';

export interface SentMessage {
  readonly message: Message;
  /** This client message id was committed before. */
  readonly duplicate: boolean;
}

export class MessageApi {
  readonly #context: CallContext;
  readonly #messages: ServiceCalls<'MessageService'>;

  constructor(context: CallContext) {
    this.#context = context;
    this.#messages = serviceOver('MessageService', context.caller);
  }

  /** One try; the outbox makes it again. */
  async sendOnce(input: SendMessageInput & { readonly clientMessageId: string }, timeoutMs: number): Promise<SentMessage> {
    const content: OutgoingContent = typeof input.content === 'string' ? { kind: 'text', text: input.content } : input.content;
    const { replyTo } = input;
    const request: MessageInitShape<typeof wire.SendMessageRequestSchema> = {
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
      ...(replyTo && { replyTo: { conversationSeq: wireInteger(replyTo.conversationSeq, 'replyTo'), messageId: replyTo.messageId } }),
    };
    const answer = await calling(() => this.#messages.sendMessage(request, { timeoutMs }));
    return { message: messageFrom(answer.message), duplicate: answer.duplicate };
  }

  async editMessage(input: EditMessageInput): Promise<Message> {
    const { content } = input;
    const body =
      typeof content === 'string'
        ? ({ case: 'text', value: content } as const)
        : ({ case: 'content', value: { contentType: content.contentType, data: content.data } } as const);
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

  async setReaction(ref: MessageRef, emoji: string, on: boolean): Promise<Message> {
    const request = { ...wireRef(ref), emoji, on };
    return again(this.#context, async (timeoutMs) => {
      const answer = await this.#messages.setReaction(request, { timeoutMs });
      return messageFrom(answer.message);
    });
  }
}

type SendBody = NonNullable<MessageInitShape<typeof wire.SendMessageRequestSchema>['body']>;

const DEFAULT_TYPES = { text: MessageType.Text, data: MessageType.Custom, app: MessageType.Control } as const;

function sendBody(content: OutgoingContent): SendBody {
  switch (content.kind) {
    case 'text':
      return { case: 'text', value: content.text };
    case 'data':
      return { case: 'content', value: { contentType: content.contentType, data: content.data } };
    case 'app': {
      const { appType, appData } = content;
      return { case: 'control', value: { kind: ControlKind.App, appType, appData } };
    }
  }
}
