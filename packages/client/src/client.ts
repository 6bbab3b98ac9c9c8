/**
 * The client: one connection, and what is kept in step over it. Nothing here does I/O; it wires the parts together.
 *
 * On each welcome, on resyncNeeded and every RELIST_INTERVAL_MS everything shown is read again: a push is a hint that may
 * be lost, and nothing says so.
 */
import { RELIST_INTERVAL_MS } from '@qim/proto';
import type { Event as WireEvent } from '@qim/proto/schema';
import { Api, type SentMessage } from './api.js';
import { Calls } from './calls.js';
import type { ServerFrame } from './codec.js';
import { Connection, type ConnectionState, type TokenSource } from './connection.js';
import { ConversationList, type ConversationListState } from './conversation-list.js';
import { type Environment, environmentFrom } from './environment.js';
import { clientError, type QimClientError, serverError } from './errors.js';
import { eventFrom, type QimEvent } from './events.js';
import type { CreateGroupInput, EditMessageInput, MessageRef, ReadHistoryInput, SendMessageInput } from './inputs.js';
import { Listeners, type Observable } from './observable.js';
import type { OpenConversation } from './open-conversation.js';
import { Outbox, type OutgoingMessage } from './outbox.js';
import { ReadMarker } from './read-marker.js';
import { socketTransport } from './transport.js';
import type { Conversation, ConversationPage, HistoryPage, MemberPage, Message } from './types.js';
import { Windows } from './windows.js';

export interface ClientOptions extends Partial<Environment> {
  /** The server, such as http://127.0.0.1:7700; its socket is at /ws below it. */
  readonly url: string;
  /** Called at each connect, and once more when a token was refused or has expired. */
  readonly token: TokenSource;
  /** Used when the token names no device. */
  readonly device?: string;
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
  /** Connects, and again after every loss, until `close`. */
  connect(): void;
  /** Ends the waiting between two tries. */
  retryNow(): void;
  /** For good: make a new client to come back. */
  close(): void;
  /** Raw: they may be lost, doubled or late. The function ends it. */
  onEvent(listener: (event: QimEvent) => void): () => void;
  openConversation(conversationId: string): OpenConversation;

  /** Tried again under one client message id for at most a minute; then `outcomeUnknown` says whether it may have arrived. */
  sendMessage(input: SendMessageInput): Promise<SentMessage>;
  editMessage(input: EditMessageInput): Promise<Message>;
  recallMessage(ref: MessageRef): Promise<Message>;
  deleteMessage(ref: MessageRef): Promise<Message>;
  /** What now holds: only ever raised, never past the newest message. */
  markRead(conversationId: string, conversationSeq: number): Promise<number>;
  readHistory(input: ReadHistoryInput): Promise<HistoryPage>;
  /** `pageSize` 1..100, absent: 50. */
  listConversations(page?: { readonly pageSize?: number; readonly pageToken?: string }): Promise<ConversationPage>;
  getConversation(conversationId: string): Promise<Conversation>;
  createGroup(input: CreateGroupInput): Promise<Conversation>;
  addMembers(conversationId: string, memberIds: readonly string[]): Promise<Conversation>;
  removeMember(conversationId: string, userId: string): Promise<Conversation>;
  leaveGroup(conversationId: string): Promise<void>;
  listMembers(conversationId: string, pageToken?: string): Promise<MemberPage>;
}

export function createClient(options: ClientOptions): Client {
  return new SocketClient(options);
}

class SocketClient implements Client {
  readonly connection: Observable<ConnectionState>;
  readonly conversations: ConversationListView;
  readonly outbox: OutboxView;
  readonly #environment: Environment;
  readonly #connection: Connection;
  readonly #calls: Calls;
  readonly #api: Api;
  readonly #list: ConversationList;
  readonly #windows: Windows;
  readonly #outbox: Outbox;
  readonly #marker: ReadMarker;
  readonly #events = new Listeners<[QimEvent]>();
  #cancelRelist: () => void = () => {};

  constructor(options: ClientOptions) {
    const environment = environmentFrom(options);
    this.#environment = environment;
    this.#calls = new Calls(environment);
    const api = new Api(socketTransport(this.#calls), environment);
    this.#api = api;
    this.#outbox = new Outbox({ api, environment, sent: (sent) => this.#sent(sent) });
    this.#list = new ConversationList({
      api,
      environment,
      noted: (conversation) => this.#windows.get(conversation.conversationId)?.noted(conversation),
      gone: (conversationId) => this.#windows.get(conversationId)?.removed(),
    });
    this.#marker = new ReadMarker({
      api,
      environment,
      heldMark: (conversationId) => soundEntry(this.#list, conversationId)?.readConversationSeq,
      marked: (conversationId) => this.#list.touch(conversationId, 'other'),
    });
    this.#windows = new Windows({
      api,
      outbox: this.#outbox,
      heldCursor: (conversationId) => soundEntry(this.#list, conversationId)?.amendmentCursor,
      markRead: (conversationId, seq) => this.#marker.shown(conversationId, seq),
    });
    this.#connection = new Connection({
      url: socketUrl(options.url),
      token: options.token,
      device: options.device ?? '',
      environment,
      handler: { online: () => this.#online(), offline: (stopped) => this.#offline(stopped), frame: (frame) => this.#frame(frame) },
    });
    this.connection = this.#connection.state;
    const list = this.#list;
    this.conversations = {
      subscribe: list.state.subscribe,
      snapshot: list.state.snapshot,
      loadMore: () => list.loadMore(),
      refresh: () => list.relist(),
    };
    const outbox = this.#outbox;
    this.outbox = {
      subscribe: outbox.state.subscribe,
      snapshot: outbox.state.snapshot,
      retry: (clientMessageId) => outbox.retry(clientMessageId),
      drop: (clientMessageId) => outbox.drop(clientMessageId),
    };
  }

  connect(): void {
    this.#calls.reopen();
    this.#connection.connect();
  }

  retryNow(): void {
    this.#connection.retryNow();
  }

  close(): void {
    this.#connection.close();
    this.#calls.close(clientError('CLIENT_CLOSED', 'the client was closed'));
    this.#outbox.close();
    this.#marker.close();
    this.#list.close();
    for (const [, window] of this.#windows.all()) window.close();
    this.#cancelRelist();
  }

  onEvent(listener: (event: QimEvent) => void): () => void {
    return this.#events.add(listener);
  }

  openConversation(conversationId: string): OpenConversation {
    return this.#windows.open(conversationId);
  }

  sendMessage(input: SendMessageInput): Promise<SentMessage> {
    return this.#outbox.send(input);
  }

  editMessage(input: EditMessageInput): Promise<Message> {
    return this.#amended(this.#api.editMessage(input));
  }

  recallMessage(ref: MessageRef): Promise<Message> {
    return this.#amended(this.#api.recallMessage(ref));
  }

  deleteMessage(ref: MessageRef): Promise<Message> {
    return this.#amended(this.#api.deleteMessage(ref));
  }

  async markRead(conversationId: string, conversationSeq: number): Promise<number> {
    const held = await this.#api.markRead(conversationId, conversationSeq);
    this.#list.touch(conversationId, 'other');
    return held;
  }

  readHistory(input: ReadHistoryInput): Promise<HistoryPage> {
    return this.#api.readHistory(input);
  }

  listConversations(page: { readonly pageSize?: number; readonly pageToken?: string } = {}): Promise<ConversationPage> {
    return this.#api.listConversations(page.pageSize ?? 0, page.pageToken ?? '');
  }

  getConversation(conversationId: string): Promise<Conversation> {
    return this.#api.getConversation(conversationId);
  }

  createGroup(input: CreateGroupInput): Promise<Conversation> {
    return this.#changed(this.#api.createGroup(input));
  }

  addMembers(conversationId: string, memberIds: readonly string[]): Promise<Conversation> {
    return this.#changed(this.#api.addMembers(conversationId, memberIds));
  }

  removeMember(conversationId: string, userId: string): Promise<Conversation> {
    return this.#changed(this.#api.removeMember(conversationId, userId));
  }

  async leaveGroup(conversationId: string): Promise<void> {
    await this.#api.leaveGroup(conversationId);
    this.#list.remove(conversationId);
    this.#windows.get(conversationId)?.removed();
  }

  listMembers(conversationId: string, pageToken = ''): Promise<MemberPage> {
    return this.#api.listMembers(conversationId, pageToken);
  }

  async #changed(call: Promise<Conversation>): Promise<Conversation> {
    const conversation = await call;
    this.#list.touch(conversation.conversationId, 'activity');
    this.#windows.get(conversation.conversationId)?.noted(conversation);
    return conversation;
  }

  async #amended(call: Promise<Message>): Promise<Message> {
    const message = await call;
    this.#windows.push(message);
    this.#list.touch(message.conversationId, 'other');
    return message;
  }

  /** Whether a window will show it. */
  #sent({ message }: SentMessage): boolean {
    this.#list.touch(message.conversationId, 'activity');
    const window = this.#windows.get(message.conversationId);
    if (window === undefined) return false;
    // A duplicate of what is gone by now comes with its ids alone: history knows more.
    if (message.activityId === '') {
      window.resync();
      return false;
    }
    window.push(message);
    return true;
  }

  #online(): void {
    this.#calls.attach({ send: (frame) => this.#connection.send(frame), suspect: (sinceMs) => this.#connection.suspect(sinceMs) });
    this.#resync();
    this.#marker.flush();
  }

  #offline(stopped: QimClientError | undefined): void {
    this.#cancelRelist();
    if (stopped === undefined) this.#calls.detach();
    else this.#calls.close(stopped);
  }

  #resync(): void {
    this.#cancelRelist();
    this.#cancelRelist = this.#environment.schedule(RELIST_INTERVAL_MS, () => this.#resync());
    this.#list.relist();
    for (const [, window] of this.#windows.all()) window.resync();
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
      this.#resync();
      return;
    }
    if (event !== undefined) this.#event(event);
  }

  #event(event: QimEvent): void {
    switch (event.kind) {
      case 'messageCommitted':
        this.#windows.push(event.message);
        this.#list.touch(event.message.conversationId, 'activity');
        break;
      case 'messageAmended':
        this.#windows.push(event.message);
        this.#list.touch(event.message.conversationId, 'other');
        break;
      case 'conversationChanged':
        // It may be one that the user has just joined.
        this.#list.touch(event.conversationId, 'activity');
        break;
      case 'readAdvanced':
        this.#list.touch(event.conversationId, 'other');
        break;
      case 'removed':
        this.#windows.get(event.conversationId)?.removed();
        this.#list.remove(event.conversationId);
        break;
      case 'resyncNeeded':
        this.#resync();
        break;
    }
    this.#events.emit(event);
  }
}

function soundEntry(list: ConversationList, conversationId: string) {
  const entry = list.find(conversationId);
  return entry?.damaged === undefined ? entry : undefined;
}

/** http and https become ws and wss. @throws TypeError for what is no URL */
function socketUrl(url: string): string {
  const whole = new URL(url);
  whole.protocol = whole.protocol === 'https:' || whole.protocol === 'wss:' ? 'wss:' : 'ws:';
  whole.pathname = `${whole.pathname.replace(/\/$/, '')}/ws`;
  whole.search = '';
  return whole.href;
}
