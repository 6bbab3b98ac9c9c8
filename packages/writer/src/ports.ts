/** What the writer is given. It opens nothing, and asks no clock and no source of randomness but these. */
import type { AnnounceRead, Caller, ConversationId, MessageContent, MessageType, TenantId, UserId } from '@qim/proto';
import type { Directory, MessageStore, Users } from '@qim/store';

/** anyone; only users who have a conversation in common may open one; only the tenant's own backend sends direct messages. */
export type DirectMessages = 'anyone' | 'sharedConversation' | 'serverOnly';

/** What somebody is about to say. Its content goes to the operator's service and nowhere else. */
export interface Draft {
  readonly caller: Caller;
  readonly action: 'send' | 'edit';
  readonly place: { readonly conversationId: ConversationId } | { readonly toUserId: UserId };
  /** Of an edited message: as it is. */
  readonly type: MessageType;
  readonly content: MessageContent;
  readonly mentionUserIds: readonly UserId[];
  readonly mentionAll: boolean;
}

/** unanswered: neither a yes nor a no came in time, and the operator wants nothing sent then. Never rejects. */
export type BeforeSend = (draft: Draft) => Promise<'allowed' | 'denied' | 'unanswered'>;

/** Told of what metrics and logs should know. Must not throw. */
export interface WriterObserver {
  /** A committed message's list entry or read mark was not written before the answer. The outbox mends the list. */
  afterCommitFailed?(error: unknown): void;
}

export interface WriterDeps {
  readonly messages: Pick<MessageStore, 'commit' | 'amend' | 'react' | 'readMessages' | 'readConversation' | 'readMembers'>;
  readonly directory: Pick<
    Directory,
    'touch' | 'join' | 'leave' | 'raiseRead' | 'view' | 'page' | 'groupForRequest' | 'setFlags' | 'clear' | 'held' | 'forget'
  >;
  readonly users: Pick<Users, 'hasBlocked' | 'erase'>;
  /** The tenant's setting. */
  readonly directMessages: (tenantId: TenantId) => DirectMessages;
  /** Unix milliseconds; decides about the recall window and nothing else. */
  readonly now: () => number;
  /** A fresh UUIDv7 in lower-case text. */
  readonly newId: () => string;
  readonly announceRead: AnnounceRead;
  /** Milliseconds after the commit within which the sender may recall. */
  readonly recallWindowMs: number;
  /** Absent: nobody is asked. */
  readonly beforeSend?: BeforeSend | undefined;
  readonly observer?: WriterObserver;
}
