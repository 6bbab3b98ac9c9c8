/** The client over one WebSocket. Nothing here does I/O; it wires the parts together. */
import { CLIENT_MARKS_PER_CALL_MAX } from '@qim/proto';
import type { Event as WireEvent } from '@qim/proto/schema';
import { type Api, apiOver } from './api/api.js';
import type { SentMessage } from './api/message-api.js';
import { Calls } from './calls.js';
import type { Account, Client, ClientOptions, ConversationListView, OutboxView } from './client.js';
import type { ServerFrame } from './codec.js';
import { Connection, type ConnectionState } from './connection.js';
import { environmentFrom } from './environment.js';
import { clientClosed, clientError, type QimClientError, serverError } from './errors.js';
import { eventFrom, type QimEvent } from './events.js';
import type * as inputs from './inputs.js';
import { Listeners, type Observable } from './observable.js';
import type { OpenConversation } from './open-conversation.js';
import type { ProfilesView } from './profiles.js';
import { defaultStorage } from './storage/default-storage.js';
import { Sync } from './sync.js';
import type { TotalsState } from './totals.js';
import type * as own from './types.js';
import type { TypingState } from './typing.js';
import { accountName, socketUrl } from './url.js';

/** Connects nothing yet; opens the cache when `account` is given. @throws Error in Node before 22 without `WebSocket` */
export function createClient(options: ClientOptions): Client {
  return new SocketClient(options);
}

class SocketClient implements Client {
  readonly connection: Observable<ConnectionState>;
  readonly conversations: ConversationListView;
  readonly outbox: OutboxView;
  readonly totals: Observable<TotalsState>;
  readonly typing: Observable<TypingState>;
  readonly presence: Observable<ReadonlySet<string>>;
  readonly profiles: ProfilesView;
  readonly #url: string;
  readonly #connection: Connection;
  readonly #calls: Calls;
  readonly #api: Api;
  readonly #sync: Sync;
  readonly #events = new Listeners<[QimEvent]>();
  #account: Account | undefined;
  #closed = false;

  constructor(options: ClientOptions) {
    const environment = environmentFrom(options);
    this.#url = options.url;
    this.#account = options.account;
    this.#calls = new Calls(environment);
    this.#api = apiOver(this.#calls, environment);
    this.#connection = new Connection({
      url: socketUrl(options.url),
      token: options.token,
      device: options.device ?? '',
      environment,
      handler: {
        refuses: (identity) => this.#refuses(identity),
        online: (identity) => this.#online(identity),
        offline: (stopped) => this.#offline(stopped),
        frame: (frame) => this.#frame(frame),
      },
    });
    this.#sync = new Sync({
      api: this.#api,
      environment,
      storage: options.storage ?? defaultStorage(),
      loggedOut: () => this.#connection.stop(clientError('LOGGED_OUT', 'another tab has logged this user out')),
    });
    const { list, outbox, totals, typing, presence, profiles } = this.#sync;
    this.connection = this.#connection.state;
    this.conversations = { ...viewOf(list.state), loadMore: () => list.loadMore(), refresh: () => list.relist() };
    this.outbox = { ...viewOf(outbox.state), retry: (id) => outbox.retry(id), drop: (id) => outbox.drop(id) };
    this.totals = totals.state;
    this.typing = typing.state;
    this.presence = presence.state;
    this.profiles = profiles;
    if (this.#account !== undefined) void this.#sync.restore(accountName(options.url, this.#account));
  }

  connect(): void {
    if (this.#closed) return;
    this.#calls.reopen();
    this.#connection.connect();
  }

  retryNow(): void {
    this.#connection.retryNow();
  }

  close(): void {
    this.#end();
    void this.#sync.cache.close();
  }

  async logout(): Promise<void> {
    this.#end();
    await this.#sync.cache.destroy();
  }

  onEvent(listener: (event: QimEvent) => void): () => void {
    return this.#events.add(listener);
  }

  openConversation(conversationId: string): OpenConversation {
    return this.#sync.windows.open(conversationId);
  }

  sendMessage(input: inputs.SendMessageInput): Promise<SentMessage> {
    return this.#sync.outbox.send(input);
  }

  editMessage(input: inputs.EditMessageInput): Promise<own.Message> {
    return this.#amended(this.#api.messages.editMessage(input));
  }

  recallMessage(ref: inputs.MessageRef): Promise<own.Message> {
    return this.#amended(this.#api.messages.recallMessage(ref));
  }

  deleteMessage(ref: inputs.MessageRef): Promise<own.Message> {
    return this.#amended(this.#api.messages.deleteMessage(ref));
  }

  setReaction(ref: inputs.MessageRef, emoji: string, on: boolean): Promise<own.Message> {
    return this.#amended(this.#api.messages.setReaction(ref, emoji, on));
  }

  async markRead(conversationId: string, conversationSeq: number): Promise<number> {
    const held = await this.#api.session.markRead(conversationId, conversationSeq);
    this.#sync.touched(conversationId, 'other');
    return held;
  }

  async markAllRead(): Promise<void> {
    const marks = this.#sync.list.state.snapshot().conversations.flatMap((entry) => {
      if (entry.damaged !== undefined) return [];
      const { conversationId, latestConversationSeq, unreadCount, unreadExact, flags } = entry;
      const isUnread = unreadCount > 0 || !unreadExact || flags.markedUnread;
      return isUnread ? [{ conversationId, conversationSeq: latestConversationSeq }] : [];
    });
    for (let from = 0; from < marks.length; from += CLIENT_MARKS_PER_CALL_MAX) {
      const batch = marks.slice(from, from + CLIENT_MARKS_PER_CALL_MAX);
      await this.#api.session.markAllRead(batch);
      for (const { conversationId } of batch) this.#sync.touched(conversationId, 'other');
    }
  }

  getTotals(): Promise<own.Totals> {
    return this.#api.session.getTotals();
  }

  readHistory(input: inputs.ReadHistoryInput): Promise<own.HistoryPage> {
    return this.#api.session.readHistory(input);
  }

  async clearHistory(conversationId: string, upToSeq: number): Promise<void> {
    await this.#api.session.clearHistory(conversationId, upToSeq);
    this.#sync.windows.get(conversationId)?.startAnew();
    this.#sync.touched(conversationId, 'other');
  }

  listConversations(page: { readonly pageSize?: number; readonly pageToken?: string } = {}): Promise<own.ConversationPage> {
    return this.#api.session.listConversations(page.pageSize ?? 0, page.pageToken ?? '');
  }

  getConversation(conversationId: string): Promise<own.Conversation> {
    return this.#api.session.getConversation(conversationId);
  }

  async setConversationFlags(conversationId: string, flags: inputs.ConversationFlagsInput): Promise<own.Conversation> {
    const conversation = await this.#api.session.setConversationFlags(conversationId, flags);
    // Pinned and hidden ones change their places, which the server alone knows.
    this.#sync.list.relist();
    this.#sync.totals.touch();
    return conversation;
  }

  createGroup(input: inputs.CreateGroupInput): Promise<own.Conversation> {
    return this.#changed(this.#api.conversations.createGroup(input));
  }

  addMembers(conversationId: string, memberIds: readonly string[]): Promise<own.Conversation> {
    return this.#changed(this.#api.conversations.addMembers(conversationId, memberIds));
  }

  removeMember(conversationId: string, userId: string): Promise<own.Conversation> {
    return this.#changed(this.#api.conversations.removeMember(conversationId, userId));
  }

  async leaveGroup(conversationId: string): Promise<void> {
    await this.#api.conversations.leaveGroup(conversationId);
    this.#sync.removed(conversationId);
  }

  setRole(conversationId: string, userId: string, role: inputs.AssignableRole): Promise<own.Conversation> {
    return this.#changed(this.#api.conversations.setRole(conversationId, userId, role));
  }

  updateConversation(conversationId: string, input: inputs.UpdateConversationInput): Promise<own.Conversation> {
    return this.#changed(this.#api.conversations.updateConversation(conversationId, input));
  }

  listMembers(conversationId: string, pageToken = ''): Promise<own.MemberPage> {
    return this.#api.conversations.listMembers(conversationId, pageToken);
  }

  async setProfile(input: inputs.ProfileInput): Promise<own.Profile> {
    const profile = await this.#api.people.setProfile(input);
    this.#sync.profiles.learnt(profile);
    return profile;
  }

  getProfiles(userIds: readonly string[]): Promise<readonly own.Profile[]> {
    return this.#api.people.getProfiles(userIds);
  }

  blockUser(userId: string): Promise<void> {
    return this.#api.people.blockUser(userId);
  }

  unblockUser(userId: string): Promise<void> {
    return this.#api.people.unblockUser(userId);
  }

  listBlocked(pageToken = ''): Promise<own.BlockedPage> {
    return this.#api.people.listBlocked(pageToken);
  }

  reportMessage(input: inputs.ReportInput): Promise<void> {
    return this.#api.people.reportMessage(input);
  }

  async #changed(call: Promise<own.Conversation>): Promise<own.Conversation> {
    const conversation = await call;
    this.#sync.changed(conversation);
    return conversation;
  }

  async #amended(call: Promise<own.Message>): Promise<own.Message> {
    const message = await call;
    this.#sync.amended(message);
    return message;
  }

  #end(): void {
    this.#closed = true;
    this.#sync.flushMarks();
    // Before the link: nothing that is under way may take its end for one that passes.
    this.#calls.close(clientClosed());
    this.#connection.close();
    this.#sync.close();
  }

  /** One client is one user's: nothing that is held may ever show to another. */
  #refuses({ userId, tenant }: own.Identity): QimClientError | undefined {
    const account = this.#account;
    if (account === undefined || (account.userId === userId && (account.tenant ?? 0) === tenant)) return undefined;
    return clientError('ACCOUNT_MISMATCH', 'the token is for another user than this client');
  }

  #online(identity: own.Identity): void {
    const { userId, tenant } = identity;
    this.#account ??= { userId, tenant };
    void this.#sync.restore(accountName(this.#url, this.#account));
    this.#calls.attach({ send: (frame) => this.#connection.send(frame), suspect: (sinceMs) => this.#connection.suspect(sinceMs) });
    this.#sync.online(identity);
  }

  #offline(stopped: QimClientError | undefined): void {
    this.#sync.offline();
    if (stopped === undefined) this.#calls.detach();
    else this.#calls.close(stopped);
  }

  #frame(frame: Exclude<ServerFrame, { kind: 'welcome' | 'unknown' }>): void {
    switch (frame.kind) {
      case 'reply':
        this.#calls.reply(frame.id, frame.body);
        return;
      case 'error':
        this.#calls.fail(frame.id, serverError(frame.error));
        return;
      case 'event':
        this.#wireEvent(frame.event);
        return;
    }
  }

  #wireEvent(wireEvent: WireEvent): void {
    let event: QimEvent | undefined;
    try {
      event = eventFrom(wireEvent);
    } catch {
      // One that cannot be understood is one that was lost.
      this.#sync.resync();
      return;
    }
    if (event === undefined) return;
    this.#sync.event(event);
    this.#events.emit(event);
  }
}

function viewOf<T>({ subscribe, snapshot }: Observable<T>): Observable<T> {
  return { subscribe, snapshot };
}
