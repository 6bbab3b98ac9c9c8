/** A writer over the reference store, with a clock that the test moves, and refusals as lines to compare. */
import {
  type Caller,
  type ClientMessageId,
  type ConversationId,
  HistoryVisibility,
  isQimError,
  type Message,
  MessageType,
  parseClientMessageId,
  parseConversationSeq,
  parseDeviceId,
  parseTenantId,
  parseUserId,
  RECALL_WINDOW_MS,
  SEQ_ZERO,
  type TenantId,
  type UserId,
} from '@qim/proto';
import { openMemoryStore } from '@qim/store/memory';
import { type CreateGroupInput, createWriter, type SendMessageInput, type SendMessageOutput, type WriterDeps } from '@qim/writer';
import { uuidv7 } from 'uuidv7';

export const T0 = parseTenantId(0);
export const T7 = parseTenantId(7);
export const ALICE = parseUserId('alice');
export const BOB = parseUserId('bob');
export const CAROL = parseUserId('carol');
export const DAN = parseUserId('dan');
export const seq = parseConversationSeq;

export function caller(userId: UserId, tenantId: TenantId = T0): Caller {
  return { tenantId, userId, deviceId: parseDeviceId('phone'), admin: false };
}

export type World = ReturnType<typeof openWorld>;

/** `over` replaces parts of what the writer is given. */
export function openWorld(over: (deps: WriterDeps) => Partial<WriterDeps> = () => ({})) {
  const clock = { nowMs: 1_700_000_000_000 };
  const store = openMemoryStore({ now: () => clock.nowMs });
  const announced: string[] = [];
  const failures: unknown[] = [];
  const own: WriterDeps = {
    messages: store.messages,
    directory: store.directory,
    users: store.users,
    directMessages: () => 'anyone',
    now: () => clock.nowMs,
    newId: uuidv7,
    announceRead: (_tenant, userId, conversationId, readSeq) => announced.push(`${userId} ${conversationId} ${readSeq}`),
    recallWindowMs: RECALL_WINDOW_MS,
    observer: { afterCommitFailed: (error) => failures.push(error) },
  };
  const deps = { ...own, ...over(own) };
  const writer = createWriter(deps);
  let sent = 0;

  function text(target: SendMessageInput['target'], part: Partial<SendMessageInput> = {}): SendMessageInput {
    sent += 1;
    return textInput(`c${sent}`, target, part);
  }

  return {
    store,
    writer,
    clock,
    announced,
    failures,
    text,
    /** Sends and returns the whole message. */
    send: async (by: UserId, conversationId: ConversationId, part: Partial<SendMessageInput> = {}): Promise<Message> =>
      whole(await writer.sendMessage(caller(by), text({ conversationId }, part))),
    sendTo: async (by: UserId, toUserId: UserId, part: Partial<SendMessageInput> = {}): Promise<Message> =>
      whole(await writer.sendMessage(caller(by), text({ toUserId }, part))),
    group: (by: UserId, memberIds: readonly UserId[], part: Partial<CreateGroupInput> = {}): Promise<ConversationId> =>
      writer.createGroup(caller(by), groupInput(memberIds, part)),
    head: async (conversationId: ConversationId, tenantId: TenantId = T0) =>
      (await store.messages.readConversation(tenantId, conversationId, ALICE)).facts?.lastSequence,
    members: async (conversationId: ConversationId) => [...(await store.messages.readMembers(T0, conversationId)).keys()],
    listOf: async (userId: UserId, tenantId: TenantId = T0) =>
      (await store.directory.page(tenantId, userId, 100, undefined)).views.map((view) => view.conversationId),
  };
}

export function textInput(id: string, target: SendMessageInput['target'], part: Partial<SendMessageInput> = {}): SendMessageInput {
  return {
    target,
    clientMessageId: parseClientMessageId(id),
    type: MessageType.Text,
    content: { kind: 'text', text: `message ${id}` },
    mentionUserIds: [],
    mentionAll: false,
    replyTo: undefined,
    readConversationSeq: SEQ_ZERO,
    ...part,
  };
}

export function groupInput(memberIds: readonly UserId[], part: Partial<CreateGroupInput> = {}): CreateGroupInput {
  const settings = { historyVisibility: HistoryVisibility.FromJoining, onlyAdminsPost: false, readReceipts: false };
  return { clientRequestId: undefined, title: 'room', memberIds, ...settings, ...part };
}

export function whole({ message }: SendMessageOutput): Message {
  if ('idsOnly' in message) throw new Error('only ids came back');
  return message;
}

export const key = (text: string): ClientMessageId => parseClientMessageId(text);

/** Which error a call ends in, with its field: 'InvalidArgument text', 'NotMember'; 'fine' when it does not fail. */
export async function refusal(call: Promise<unknown> | (() => unknown)): Promise<string> {
  try {
    await (typeof call === 'function' ? call() : call);
    return 'fine';
  } catch (error) {
    if (!isQimError(error)) throw error;
    return 'field' in error.detail ? `${error.code} ${error.detail.field}` : error.code;
  }
}
