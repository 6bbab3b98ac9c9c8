/** MessageService, by the writer. */
import { type Message, parseClientMessageId, parseConversationSeq } from '@qim/proto';
import { MessageService, type SendMessageRequest } from '@qim/proto/schema';
import type { SendMessageInput, Writer } from '@qim/writer';
import { editInput, messageType, replyTarget, sendTarget, sentContent, targetRef, userIds } from '../from-wire.js';
import { type Method, method } from '../method.js';
import { wireMessage, wireSent } from '../to-wire.js';

export function messageMethods(writer: Writer): readonly Method[] {
  const { sendMessage, editMessage, recallMessage, deleteMessage, setReaction } = MessageService.method;
  return [
    method(sendMessage, async ({ caller }, request) => {
      return wireSent(await writer.sendMessage(caller, sendInput(request)));
    }),
    method(editMessage, async ({ caller }, request) => answer(await writer.editMessage(caller, editInput(request)))),
    method(recallMessage, async ({ caller }, request) => answer(await writer.recallMessage(caller, targetRef(request)))),
    method(deleteMessage, async ({ caller }, request) => answer(await writer.deleteMessage(caller, targetRef(request)))),
    method(setReaction, async ({ caller }, request) => {
      const { emoji, on } = request;
      return answer(await writer.setReaction(caller, { ...targetRef(request), emoji, on }));
    }),
  ];
}

function answer(message: Message) {
  return { message: wireMessage(message) };
}

export function sendInput(request: SendMessageRequest): SendMessageInput {
  return {
    target: sendTarget(request),
    clientMessageId: parseClientMessageId(request.clientMessageId),
    type: messageType(request.type),
    content: sentContent(request),
    mentionUserIds: userIds(request.mentionUserIds, 'mentionUserIds'),
    mentionAll: request.mentionAll,
    replyTo: replyTarget(request.replyTo),
    readConversationSeq: parseConversationSeq(request.readConversationSeq, 'readConversationSeq'),
  };
}
