/** What an application holds of qim. */
import type { SentMessage } from './api/message-api.js';
import type { ConnectionState } from './connection.js';
import type { ConversationListState } from './conversation-list.js';
import type { Environment } from './environment.js';
import type { QimEvent } from './events.js';
import type {
  AssignableRole,
  ConversationFlagsInput,
  CreateGroupInput,
  EditMessageInput,
  MessageRef,
  ProfileInput,
  ReadHistoryInput,
  ReportInput,
  SendMessageInput,
  UpdateConversationInput,
} from './inputs.js';
import type { Observable } from './observable.js';
import type { OpenConversation } from './open-conversation.js';
import type { OutgoingMessage } from './outbox.js';
import type { ProfilesView } from './profiles.js';
import type { ClientStorage } from './storage/storage.js';
import type { TokenSource } from './token.js';
import type { TotalsState } from './totals.js';
import type { BlockedPage, Conversation, ConversationPage, HistoryPage, MemberPage, Message, Profile, Totals } from './types.js';
import type { TypingState } from './typing.js';

/** Whose client it is. */
export interface Account {
  readonly userId: string;
  /** Absent: 0. */
  readonly tenant?: number;
}

export interface ClientOptions extends Partial<Environment> {
  /** The server, such as http://127.0.0.1:7700; its socket is at /ws below it. */
  readonly url: string;
  /** Called at each connect, before the token expires, and when one was refused or has expired. */
  readonly token: TokenSource;
  /** Used when the token names no device. */
  readonly device?: string;
  /**
   * Opens the cache at once, before there is any link; a token for another one stops the client. Absent: the cache opens
   * with the first welcome, which says who it is.
   */
  readonly account?: Account;
  /** Absent: IndexedDB where there is one, else memory. */
  readonly storage?: ClientStorage;
}

export interface ConversationListView extends Observable<ConversationListState> {
  /** One more page. @throws QimClientError */
  readonly loadMore: () => Promise<void>;
  /** Reads the list again. */
  readonly refresh: () => void;
}

export interface OutboxView extends Observable<readonly OutgoingMessage[]> {
  /** Sends a failed one again, under its id. @throws as `sendMessage` */
  readonly retry: (clientMessageId: string) => Promise<SentMessage>;
  /** Forgets a failed one. */
  readonly drop: (clientMessageId: string) => void;
}

/** Every call rejects with QimClientError. */
export interface Client {
  readonly connection: Observable<ConnectionState>;
  readonly conversations: ConversationListView;
  readonly outbox: OutboxView;
  /** Read while somebody watches. */
  readonly totals: Observable<TotalsState>;
  /** Who writes where. */
  readonly typing: Observable<TypingState>;
  /** Who is known to be online, of the others of direct conversations; nobody without a link. */
  readonly presence: Observable<ReadonlySet<string>>;
  readonly profiles: ProfilesView;
  /** Connects, and again after every loss, until `close`. */
  connect(): void;
  /** Ends the waiting between two tries. */
  retryNow(): void;
  /** For good: make a new client to come back. What is kept stays kept. Every call that is under way, or is made later, rejects with CLIENT_CLOSED. */
  close(): void;
  /**
   * As `close`, and everything that is kept of this user is removed, in every tab. Unsent messages are lost.
   * @throws QimClientError STORAGE_FAILED
   */
  logout(): Promise<void>;
  /** Raw: they may be lost, doubled or late. The function ends it. */
  onEvent(listener: (event: QimEvent) => void): () => void;
  openConversation(conversationId: string): OpenConversation;

  /**
   * Shown at once in `outbox` and the open conversation; sent when there is a link, also after a restart, under one client
   * message id. Rejects when the server refuses it, or after a minute of tries that the server did not answer; then
   * `outcomeUnknown` says whether it may have arrived, and it stays in `outbox` to be retried or dropped.
   */
  sendMessage(input: SendMessageInput): Promise<SentMessage>;
  editMessage(input: EditMessageInput): Promise<Message>;
  recallMessage(ref: MessageRef): Promise<Message>;
  deleteMessage(ref: MessageRef): Promise<Message>;
  setReaction(ref: MessageRef, emoji: string, on: boolean): Promise<Message>;

  /** What now holds: only ever raised, never past the newest message. */
  markRead(conversationId: string, conversationSeq: number): Promise<number>;
  /** Everything that the list shows, up to what it shows: what comes meanwhile stays unread. */
  markAllRead(): Promise<void>;
  getTotals(): Promise<Totals>;
  readHistory(input: ReadHistoryInput): Promise<HistoryPage>;
  /** Hides it for the user, up to and including this sequence, for ever. */
  clearHistory(conversationId: string, upToSeq: number): Promise<void>;
  /** `pageSize` 1..100, absent: 50. */
  listConversations(page?: { readonly pageSize?: number; readonly pageToken?: string }): Promise<ConversationPage>;
  getConversation(conversationId: string): Promise<Conversation>;
  setConversationFlags(conversationId: string, flags: ConversationFlagsInput): Promise<Conversation>;

  createGroup(input: CreateGroupInput): Promise<Conversation>;
  addMembers(conversationId: string, memberIds: readonly string[]): Promise<Conversation>;
  removeMember(conversationId: string, userId: string): Promise<Conversation>;
  leaveGroup(conversationId: string): Promise<void>;
  setRole(conversationId: string, userId: string, role: AssignableRole): Promise<Conversation>;
  updateConversation(conversationId: string, input: UpdateConversationInput): Promise<Conversation>;
  listMembers(conversationId: string, pageToken?: string): Promise<MemberPage>;

  setProfile(input: ProfileInput): Promise<Profile>;
  /** `userIds` at most 100. */
  getProfiles(userIds: readonly string[]): Promise<readonly Profile[]>;
  blockUser(userId: string): Promise<void>;
  unblockUser(userId: string): Promise<void>;
  listBlocked(pageToken?: string): Promise<BlockedPage>;
  reportMessage(input: ReportInput): Promise<void>;
}
