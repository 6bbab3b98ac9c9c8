/**
 * The write side, in domain values. It validates, authorises inside the commit step, commits once, and answers when the
 * commit is durable. Ids arrive parsed; sizes and combinations are checked here, with the field's name of the API.
 */
import type {
  Caller,
  ClientMessageId,
  ConversationId,
  ConversationSeq,
  ConversationSettings,
  HistoryVisibility,
  Message,
  MessageContent,
  MessageId,
  MessageType,
  ReplyTo,
  Role,
  UserId,
} from '@qim/proto';

export type SendTarget = { readonly conversationId: ConversationId } | { readonly toUserId: UserId };

export interface SendMessageInput {
  readonly target: SendTarget;
  readonly clientMessageId: ClientMessageId;
  readonly type: MessageType;
  readonly content: MessageContent;
  readonly mentionUserIds: readonly UserId[];
  readonly mentionAll: boolean;
  readonly replyTo: ReplyTo | undefined;
  /** What the sender had on screen; 0: not told. */
  readonly readConversationSeq: ConversationSeq;
}

export interface SendMessageOutput {
  /** For a duplicate: as it is now. */
  readonly message: Message | { readonly idsOnly: DuplicateIds };
  readonly duplicate: boolean;
}

/** All that a retry is told when the record is gone or the sender is no longer a member. */
export interface DuplicateIds {
  readonly conversationId: ConversationId;
  readonly conversationSeq: ConversationSeq;
  readonly messageId: MessageId;
  readonly clientMessageId: ClientMessageId;
  readonly committedAtMs: number;
}

/** A message named by its place and its id, which must agree. */
export interface MessageRef {
  readonly conversationId: ConversationId;
  readonly conversationSeq: ConversationSeq;
  readonly messageId: MessageId;
}

export interface EditMessageInput extends MessageRef {
  readonly content: MessageContent;
  readonly mentionUserIds: readonly UserId[];
  readonly mentionAll: boolean;
}

export interface SetReactionInput extends MessageRef {
  readonly emoji: string;
  /** False: takes the caller's own off. */
  readonly on: boolean;
}

export interface CreateGroupInput {
  /** Makes a retry safe; undefined: every call makes a group. */
  readonly clientRequestId: ClientMessageId | undefined;
  readonly title: string;
  /** Beside the caller; repeats and the caller are taken once. */
  readonly memberIds: readonly UserId[];
  readonly historyVisibility: HistoryVisibility;
  readonly onlyAdminsPost: boolean;
  readonly readReceipts: boolean;
}

/** A group that the team's own backend makes, under an id of its choice. */
export interface CreateConversationInput {
  readonly conversationId: ConversationId;
  readonly title: string;
  readonly ownerUserId: UserId;
  /** Beside the owner; repeats and the owner are taken once. */
  readonly memberIds: readonly UserId[];
  readonly settings: ConversationSettings;
}

/** What is undefined stays as it is. */
export interface UpdateConversationInput {
  readonly conversationId: ConversationId;
  readonly title: string | undefined;
  readonly settings: { readonly [Name in keyof ConversationSettings]-?: ConversationSettings[Name] | undefined };
}

/** Every method may throw what `MessageStore.commit` and `amend` throw, and InvalidArgument | PayloadTooLarge. */
export interface Writer {
  sendMessage(caller: Caller, input: SendMessageInput): Promise<SendMessageOutput>;
  /** @throws NotFound | Forbidden | MessageFinal | Aborted */
  editMessage(caller: Caller, input: EditMessageInput): Promise<Message>;
  /** @throws NotFound | Forbidden | MessageFinal | RecallWindowPassed | Aborted */
  recallMessage(caller: Caller, ref: MessageRef): Promise<Message>;
  /** @throws NotFound | Forbidden | MessageFinal | Aborted */
  deleteMessage(caller: Caller, ref: MessageRef): Promise<Message>;
  /**
   * What is so already writes nothing. @throws NotFound | Forbidden (a Control message; as for a direct message, when one is
   * set) | MessageFinal | ResourceLimit | Aborted
   */
  setReaction(caller: Caller, input: SetReactionInput): Promise<Message>;
  /** Of the caller's tenant, by an admin; the user is suspended. Goes on where a failed one ended. @throws Aborted */
  deleteUser(caller: Caller, userId: UserId): Promise<void>;
  createGroup(caller: Caller, input: CreateGroupInput): Promise<ConversationId>;
  /** Users who are members already are left as they are; when all are, nothing is written. */
  addMembers(caller: Caller, conversationId: ConversationId, memberIds: readonly UserId[]): Promise<void>;
  /** @throws NotFound when that user is no member */
  removeMember(caller: Caller, conversationId: ConversationId, userId: UserId): Promise<void>;
  leaveGroup(caller: Caller, conversationId: ConversationId): Promise<void>;
  /** By an admin's token, whoever its user is. The same again finds it made. @throws IdempotencyConflict (the id is taken) */
  createConversation(caller: Caller, input: CreateConversationInput): Promise<void>;
  /** By an admin's token: the sender is SYSTEM_USER_ID. `target` names the conversation. */
  sendAsSystem(caller: Caller, input: SendMessageInput): Promise<SendMessageOutput>;
  /** What says so already writes nothing. @throws NotFound when that user is no member */
  setRole(caller: Caller, conversationId: ConversationId, userId: UserId, role: Role): Promise<void>;
  /** The title and the settings are a step and a record each, in this order; what says so already writes nothing. */
  updateConversation(caller: Caller, input: UpdateConversationInput): Promise<void>;
}
