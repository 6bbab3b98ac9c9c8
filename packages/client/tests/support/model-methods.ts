/** The qim.v1 methods over the model: each takes and gives a method's own message bytes. */
import { create, type DescMessage, fromBinary, type MessageInitShape, type MessageShape, toBinary } from '@bufbuild/protobuf';
import * as wire from '@qim/proto/schema';
import type { ChatModel } from './chat-model.js';

/** What the model says no with. */
export class Refusal extends Error {
  readonly code: string;
  readonly reason: string;

  constructor(code: string, reason: string) {
    super(reason);
    this.code = code;
    this.reason = reason;
  }
}

export type Emit = (to: Iterable<string>, event: MessageInitShape<typeof wire.EventSchema>) => void;
export type Method = (user: string, body: Uint8Array) => Uint8Array;

export function methodsOf(chat: ChatModel, emit: Emit): Record<string, Method> {
  const membersOf = (id: string, user: string): Set<string> => {
    const members = chat.conversations.get(id)?.members;
    if (members?.has(user) !== true) throw new Refusal('not_found', 'NOT_MEMBER');
    return members;
  };
  const amend = (user: string, ref: wire.MessageRef): MessageInitShape<typeof wire.MessageResponseSchema> => {
    const members = membersOf(ref.conversationId, user);
    const message = chat.recall(ref.conversationId, Number(ref.conversationSeq));
    emit(members, { kind: { case: 'messageAmended', value: { message } } });
    return { message };
  };
  return {
    'qim.v1.MessageService/SendMessage': method(wire.SendMessageRequestSchema, wire.SendMessageResponseSchema, (user, request) => {
      const id = request.target.case === 'conversationId' ? request.target.value : `d_${user}_${request.target.value}`;
      if (!chat.conversations.has(id)) chat.add(id, user, request.target.value ?? '');
      const members = membersOf(id, user);
      const { clientMessageId } = request;
      const before = chat.get(id).messages.find((m) => m.clientMessageId === clientMessageId && m.senderUserId === user);
      if (before !== undefined) return { message: before, duplicate: true };
      const message = chat.commit(id, user, { clientMessageId, text: request.body.case === 'text' ? request.body.value : '' });
      emit(members, { kind: { case: 'messageCommitted', value: { message } } });
      return { message };
    }),
    'qim.v1.MessageService/RecallMessage': method(wire.MessageRefSchema, wire.MessageResponseSchema, amend),
    'qim.v1.SessionService/ListConversations': method(
      wire.ListConversationsRequestSchema,
      wire.ListConversationsResponseSchema,
      (user, request) => {
        const from = Number(request.pageToken || '0');
        const to = from + (request.pageSize || 50);
        const all = chat.entriesOf(user);
        return { conversations: all.slice(from, to), nextPageToken: to < all.length ? String(to) : '' };
      },
    ),
    'qim.v1.SessionService/GetConversation': method(
      wire.GetConversationRequestSchema,
      wire.ConversationResponseSchema,
      (user, { conversationId }) => {
        membersOf(conversationId, user);
        return { conversation: chat.entry(conversationId, user) };
      },
    ),
    'qim.v1.SessionService/MarkRead': method(wire.MarkReadRequestSchema, wire.MarkReadResponseSchema, (user, request) => {
      const { conversationId } = request;
      membersOf(conversationId, user);
      const { read, head } = chat.get(conversationId);
      const readConversationSeq = Math.max(read.get(user) ?? 0, Math.min(Number(request.readConversationSeq), head));
      read.set(user, readConversationSeq);
      const value = { conversationId, userId: user, readConversationSeq: BigInt(readConversationSeq) };
      emit([user], { kind: { case: 'readAdvanced', value } });
      return { readConversationSeq: BigInt(readConversationSeq) };
    }),
    'qim.v1.SessionService/ReadHistory': method(wire.ReadHistoryRequestSchema, wire.ReadHistoryResponseSchema, (user, request) => {
      membersOf(request.conversationId, user);
      const { case: kind, value } = request.position;
      const position = kind === 'afterSeq' ? { after: Number(value) } : kind === 'beforeSeq' ? { before: Number(value) } : 'newest';
      return {
        ...chat.history(request.conversationId, position, request.limit || 50),
        epoch: BigInt(chat.get(request.conversationId).epoch),
      };
    }),
    'qim.v1.SessionService/CatchUp': method(wire.CatchUpRequestSchema, wire.CatchUpResponseSchema, (user, request) => {
      const { conversationId } = request;
      membersOf(conversationId, user);
      const { epoch, head, amendments } = chat.get(conversationId);
      const after = Number(request.afterSeq);
      if (Number(request.epoch) !== epoch || after > head) return { reset: true, epoch: BigInt(epoch) };
      const { messages, hasMore } = chat.history(conversationId, { after }, request.limit);
      return {
        messages,
        hasMore,
        amended: chat.amendedSince(conversationId, after, Number(request.amendmentCursor)),
        nextAfterSeq: messages.at(-1)?.conversationSeq ?? request.afterSeq,
        nextAmendmentCursor: BigInt(amendments),
        epoch: BigInt(epoch),
      };
    }),
    'qim.v1.ConversationService/LeaveGroup': method(
      wire.LeaveGroupRequestSchema,
      wire.LeaveGroupResponseSchema,
      (user, { conversationId }) => {
        membersOf(conversationId, user).delete(user);
        emit([user], { kind: { case: 'removed', value: { conversationId } } });
        return {};
      },
    ),
  };
}

function method<I extends DescMessage, O extends DescMessage>(
  input: I,
  output: O,
  answer: (user: string, request: MessageShape<I>) => MessageInitShape<O>,
): Method {
  return (user, body) => toBinary(output, create(output, answer(user, fromBinary(input, body))));
}
