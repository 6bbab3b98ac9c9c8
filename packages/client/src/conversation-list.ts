/**
 * The conversation list as the server says it. Every number comes from ListConversations or GetConversation; an event only
 * says which conversation to read again. One reading at a time, so that an answer never overwrites a newer one. What the
 * answer to an own call leaves no doubt about (list-entry.ts) is not asked for again, unless it is being read anyway.
 *
 * Order: the server's, whenever the list is read; between two readings a conversation with a newer head moves to the top, below
 * the pinned ones. A hidden one is not listed: its next message, which ends the hiding, brings it back.
 */
import {
  CLIENT_LIST_ENTRIES_MAX,
  LIST_PAGE_SIZE_DEFAULT,
  LIST_PAGE_SIZE_MAX,
  LIST_REFRESH_DELAY_MS,
  LIST_REFRESH_MAX,
  LIST_REFRESH_PARALLEL_MAX,
  LIST_REFRESH_PAUSE_MS,
} from '@qim/proto';
import type { SessionApi } from './api/session-api.js';
import type { Environment } from './environment.js';
import { asClientError, clientClosed, clientError, isNotMember, isWithoutLink, type QimClientError } from './errors.js';
import { withOwnMessage, withReadMark } from './list-entry.js';
import { Cell, type Observable } from './observable.js';
import type { Conversation, ConversationPage, Message } from './types.js';

export interface ConversationListState {
  /** loading: nothing was read yet. error: reading failed, and what was read before is still there. */
  readonly status: 'loading' | 'ready' | 'error';
  readonly error: QimClientError | undefined;
  /** Pinned ones first, then by activity, newest first. */
  readonly conversations: readonly Conversation[];
  /** `loadMore` has more. */
  readonly hasMore: boolean;
  /** What is shown was kept from an earlier time; the server has not been asked yet. */
  readonly stale: boolean;
}

export interface ConversationListOptions {
  readonly api: Pick<SessionApi, 'listConversations' | 'getConversation'>;
  readonly environment: Environment;
  /** An entry was read again. */
  readonly noted: (conversation: Conversation) => void;
  /** The caller is no member of it (any more). */
  readonly gone: (conversationId: string) => void;
}

/** activity: a new message, which may make a conversation appear. other: something about one that is held. */
export type Touch = 'activity' | 'other';

export class ConversationList {
  readonly #options: ConversationListOptions;
  readonly #state = new Cell<ConversationListState>({
    status: 'loading',
    error: undefined,
    conversations: [],
    hasMore: false,
    stale: false,
  });
  readonly #touched = new Map<string, Touch>();
  /** Of those, what is being read now. */
  readonly #due = new Map<string, Touch>();
  #readAtMs = Number.NEGATIVE_INFINITY;
  #nextPageToken = '';
  #wantsAll = false;
  #moreRequests: { readonly resolve: () => void; readonly reject: (error: QimClientError) => void }[] = [];
  #running = false;
  #cancelTimer: (() => void) | undefined;
  #closed = false;

  constructor(options: ConversationListOptions) {
    this.#options = options;
  }

  get state(): Observable<ConversationListState> {
    return this.#state;
  }

  find(conversationId: string): Conversation | undefined {
    return this.#state.snapshot().conversations.find((entry) => entry.conversationId === conversationId);
  }

  /** Shows what was kept, unless the server has said something already. */
  restore(conversations: readonly Conversation[]): void {
    if (this.#state.snapshot().status !== 'loading' || this.#closed) return;
    this.#state.set({ status: 'ready', error: undefined, conversations, hasMore: false, stale: true });
  }

  /** Reads the whole list again, as far as it was read before. */
  relist(): void {
    this.#wantsAll = true;
    this.#start();
  }

  /** Reads one conversation again, a moment later, together with others; LIST_REFRESH_PAUSE_MS after the last such reading. */
  touch(conversationId: string, touch: Touch): void {
    addTouch(this.#touched, conversationId, touch);
    this.#soon();
  }

  #soon(): void {
    if (this.#touched.size === 0 || this.#running || this.#closed) return;
    const { environment } = this.#options;
    const pauseMs = Math.max(LIST_REFRESH_DELAY_MS, this.#readAtMs + LIST_REFRESH_PAUSE_MS - environment.now());
    this.#cancelTimer ??= environment.schedule(pauseMs, () => {
      this.#cancelTimer = undefined;
      this.#takeTouched();
      this.#start();
    });
  }

  #takeTouched(): void {
    this.#readAtMs = this.#options.environment.now();
    if (this.#touched.size > LIST_REFRESH_MAX) this.#wantsAll = true;
    else for (const [id, touch] of this.#touched) addTouch(this.#due, id, touch);
    this.#touched.clear();
  }

  /** The answer to a message of one's own; `isNew`: it was not a retry's. */
  sent(message: Message, isNew: boolean): void {
    const { conversationId } = message;
    const held = this.#undisturbed(conversationId);
    const next = held && isNew ? withOwnMessage(held, message) : undefined;
    if (held === undefined || next === undefined) this.touch(conversationId, 'activity');
    else this.#replace(held, next, !next.flags.pinned);
  }

  /** The answer to MarkRead. */
  marked(conversationId: string, readConversationSeq: number): void {
    const held = this.#undisturbed(conversationId);
    const next = held && withReadMark(held, readConversationSeq);
    if (held === undefined || next === undefined) this.touch(conversationId, 'other');
    else this.#replace(held, next, false);
  }

  #replace(held: Conversation, next: Conversation, toTop: boolean): void {
    const { conversations } = this.#state.snapshot();
    const at = conversations.indexOf(held);
    this.#showEntries(toTop ? onTop(next, conversations.toSpliced(at, 1)) : conversations.with(at, next));
  }

  /** Of which no reading is under way, nor will be: its answer might be older than what is known by then. */
  #undisturbed(conversationId: string): Conversation | undefined {
    const { status, stale } = this.#state.snapshot();
    if (status !== 'ready' || stale || this.#running || this.#touched.has(conversationId)) return undefined;
    return this.find(conversationId);
  }

  /** Takes it off at once, and asks whether that is so: the news may be older than an invitation. */
  remove(conversationId: string): void {
    this.#showEntries(this.#state.snapshot().conversations.filter((entry) => entry.conversationId !== conversationId));
    this.touch(conversationId, 'activity');
  }

  /** One more page. @throws QimClientError */
  loadMore(): Promise<void> {
    const { conversations, hasMore } = this.#state.snapshot();
    if (!hasMore) return Promise.resolve();
    if (conversations.length >= CLIENT_LIST_ENTRIES_MAX) {
      return Promise.reject(clientError('CLIENT_LIMIT', `the list holds at most ${CLIENT_LIST_ENTRIES_MAX} conversations`));
    }
    if (this.#closed) return Promise.reject(clientClosed());
    return new Promise((resolve, reject) => {
      this.#moreRequests.push({ resolve, reject });
      this.#start();
    });
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer?.();
    this.#touched.clear();
    this.#due.clear();
    for (const request of this.#moreRequests.splice(0)) request.reject(clientClosed());
  }

  #start(): void {
    if (!this.#running && !this.#closed) void this.#run();
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (!this.#closed && (this.#wantsAll || this.#moreRequests.length > 0 || this.#due.size > 0)) {
      if (this.#wantsAll) {
        this.#wantsAll = false;
        await this.#guard(() => this.#readAll());
      } else if (this.#moreRequests.length > 0) await this.#readMore();
      else await this.#guard(() => this.#readDue());
    }
    this.#running = false;
    this.#soon();
  }

  async #guard(run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      const known = asClientError(error, 'reading the list');
      if (!isWithoutLink(known)) this.#state.set({ ...this.#state.snapshot(), status: 'error', error: known });
    }
  }

  async #readAll(): Promise<void> {
    const { api, noted } = this.#options;
    const wanted = Math.max(this.#state.snapshot().conversations.length, LIST_PAGE_SIZE_DEFAULT);
    const read = new Map<string, Conversation>();
    let nextPageToken = '';
    do {
      const pageSize = wanted > LIST_PAGE_SIZE_DEFAULT ? LIST_PAGE_SIZE_MAX : LIST_PAGE_SIZE_DEFAULT;
      const page: ConversationPage = await api.listConversations(pageSize, nextPageToken);
      // One that moved between two pages comes twice: its later reading, in its first place.
      for (const conversation of page.conversations) read.set(conversation.conversationId, conversation);
      nextPageToken = page.conversations.length === 0 ? '' : page.nextPageToken;
    } while (nextPageToken !== '' && read.size < wanted);
    this.#nextPageToken = nextPageToken;
    this.#showList([...read.values()], nextPageToken !== '');
    for (const conversation of read.values()) noted(conversation);
  }

  async #readMore(): Promise<void> {
    const requests = this.#moreRequests;
    this.#moreRequests = [];
    try {
      const page = await this.#options.api.listConversations(LIST_PAGE_SIZE_DEFAULT, this.#nextPageToken);
      this.#nextPageToken = page.nextPageToken;
      const held = this.#state.snapshot().conversations;
      const known = new Set(held.map((entry) => entry.conversationId));
      this.#showList([...held, ...page.conversations.filter((entry) => !known.has(entry.conversationId))], page.nextPageToken !== '');
      for (const request of requests) request.resolve();
    } catch (error) {
      for (const request of requests) request.reject(asClientError(error, 'reading the list'));
    }
  }

  async #readDue(): Promise<void> {
    const batch = [...this.#due].slice(0, LIST_REFRESH_PARALLEL_MAX);
    for (const [id] of batch) this.#due.delete(id);
    const answers = await Promise.all(batch.map(async ([id, touch]) => ({ id, touch, read: await this.#readOne(id) })));
    for (const { id, touch, read } of answers) {
      if (read === undefined) this.#takeOff(id);
      else this.#put(read, touch);
    }
  }

  /** Undefined: not a member. */
  async #readOne(conversationId: string): Promise<Conversation | undefined> {
    try {
      return await this.#options.api.getConversation(conversationId);
    } catch (error) {
      if (isNotMember(error)) return undefined;
      throw error;
    }
  }

  #takeOff(conversationId: string): void {
    this.#showEntries(this.#state.snapshot().conversations.filter((entry) => entry.conversationId !== conversationId));
    this.#options.gone(conversationId);
  }

  #put(read: Conversation, touch: Touch): void {
    const { conversations, hasMore } = this.#state.snapshot();
    if (read.flags.hidden) {
      this.#showEntries(conversations.filter((entry) => entry.conversationId !== read.conversationId));
      this.#options.noted(read);
      return;
    }
    const at = conversations.findIndex((entry) => entry.conversationId === read.conversationId);
    const held = conversations[at];
    if (held === undefined) {
      // A quiet one beyond the pages that were read stays there.
      if (touch === 'activity' || !hasMore) this.#showEntries(onTop(read, conversations));
    } else if (hasNewerHead(read, held, touch) && !read.flags.pinned) this.#showEntries(onTop(read, conversations.toSpliced(at, 1)));
    else this.#showEntries(conversations.with(at, read));
    // Where it belongs now, the server knows.
    if (read.flags.pinned !== (held?.flags.pinned ?? false)) this.#wantsAll = true;
    this.#options.noted(read);
  }

  /** Single entries: whether the list as a whole could be read stays as it was. */
  #showEntries(conversations: readonly Conversation[]): void {
    this.#state.set({ ...this.#state.snapshot(), conversations });
  }

  #showList(conversations: readonly Conversation[], hasMore: boolean): void {
    this.#state.set({ status: 'ready', error: undefined, conversations, hasMore, stale: false });
  }
}

/** Again at the end: of several at once, the last one was touched last. */
function addTouch(to: Map<string, Touch>, conversationId: string, touch: Touch): void {
  const before = to.get(conversationId);
  to.delete(conversationId);
  to.set(conversationId, before === 'activity' ? before : touch);
}

/** Below the pinned ones, which come first. */
function onTop(entry: Conversation, others: readonly Conversation[]): readonly Conversation[] {
  const at = others.findIndex(({ flags }) => !flags.pinned);
  return others.toSpliced(at < 0 ? others.length : at, 0, entry);
}

function hasNewerHead(read: Conversation, held: Conversation, touch: Touch): boolean {
  if (read.damaged !== undefined || held.damaged !== undefined) return touch === 'activity';
  return read.latestConversationSeq > held.latestConversationSeq;
}
