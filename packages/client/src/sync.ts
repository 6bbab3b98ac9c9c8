/**
 * What is kept in step with the server, and when it is read again: at each welcome, on resyncNeeded and every
 * RELIST_INTERVAL_MS everything shown; after an event, what it is about. A push is a hint that may be lost, and nothing says so.
 */
import { RELIST_INTERVAL_MS } from '@qim/proto';
import type { Api } from './api/api.js';
import type { SentMessage } from './api/message-api.js';
import { ConversationList } from './conversation-list.js';
import type { Environment } from './environment.js';
import type { QimEvent } from './events.js';
import { Outbox } from './outbox.js';
import { Presence } from './presence.js';
import { Profiles } from './profiles.js';
import { ReadMarker } from './read-marker.js';
import { Cache } from './storage/cache.js';
import type { ClientStorage } from './storage/storage.js';
import { TotalsReader } from './totals.js';
import type { Conversation, Identity, Message, SoundConversation } from './types.js';
import { Typing } from './typing.js';
import { Windows } from './windows.js';

export interface SyncOptions {
  readonly api: Api;
  readonly environment: Environment;
  readonly storage: ClientStorage;
  /** Another tab has logged this user out. */
  readonly loggedOut: () => void;
}

export class Sync {
  readonly list: ConversationList;
  readonly windows: Windows;
  readonly outbox: Outbox;
  readonly totals: TotalsReader;
  readonly typing: Typing;
  readonly presence: Presence;
  readonly profiles: Profiles;
  readonly cache: Cache;
  readonly #environment: Environment;
  readonly #marker: ReadMarker;
  #userId = '';
  #cancelRelist: () => void = () => {};

  constructor({ api, environment, storage, loggedOut }: SyncOptions) {
    this.#environment = environment;
    this.cache = new Cache({
      storage,
      environment,
      list: () => this.#listToKeep(),
      marks: () => this.#marker.waiting,
      left: (messages) => this.outbox.adopt(messages),
      loggedOut,
    });
    this.outbox = new Outbox({ api: api.messages, environment, pause: api.pause, keeper: this.cache, sent: (sent) => this.#sent(sent) });
    this.list = new ConversationList({
      api: api.session,
      environment,
      noted: (conversation) => this.windows.noted(conversation),
      gone: (conversationId) => this.windows.get(conversationId)?.removed(),
    });
    this.list.state.subscribe(() => this.cache.listChanged());
    this.#marker = new ReadMarker({
      api: api.session,
      environment,
      heldMark: (conversationId) => this.#sound(conversationId)?.readConversationSeq,
      marked: (conversationId, seq) => {
        this.list.marked(conversationId, seq);
        this.totals.touch();
      },
      changed: () => this.cache.marksChanged(),
    });
    this.totals = new TotalsReader({ api: api.session, environment });
    this.typing = new Typing({ api: api.people, environment });
    this.presence = new Presence(environment);
    this.profiles = new Profiles({ api: api.people, environment });
    this.windows = new Windows({
      api: windowApi(api),
      outbox: this.outbox,
      typing: this.typing,
      heldCursor: (conversationId) => this.#sound(conversationId)?.amendmentCursor,
      markRead: (conversationId, seq) => this.#marker.shown(conversationId, seq),
      hasReceipts: (conversationId) => this.#sound(conversationId)?.settings.readReceipts !== false,
      kept: (conversationId) => this.cache.window(conversationId),
      changed: (conversationId, window) => this.cache.windowChanged(conversationId, window),
    });
  }

  /** Once it is known whose everything is. The first call counts. */
  async restore(name: string): Promise<void> {
    if (this.cache.isOpening) return;
    const kept = await this.cache.open(name);
    if (kept.list.length > 0) this.list.restore(kept.list);
    this.#marker.adopt(kept.marks);
    this.outbox.begin(kept.outbox);
  }

  online({ userId }: Identity): void {
    this.#userId = userId;
    this.resync();
    this.outbox.resume();
    this.#marker.flush();
  }

  offline(): void {
    this.#cancelRelist();
    this.typing.offline();
    this.presence.offline();
  }

  /** What was seen and not told yet; while there is a link. */
  flushMarks(): void {
    this.#marker.close();
  }

  close(): void {
    this.#cancelRelist();
    this.outbox.close();
    this.#marker.close();
    this.list.close();
    this.totals.close();
    this.typing.offline();
    this.presence.offline();
    this.profiles.close();
    this.windows.close();
  }

  resync(): void {
    this.#cancelRelist();
    this.#cancelRelist = this.#environment.schedule(RELIST_INTERVAL_MS, () => this.resync());
    this.list.relist();
    for (const [, window] of this.windows.all()) window.resync();
    this.windows.touchMembers();
    this.totals.touch();
    this.profiles.resync();
    void this.cache.adopt();
  }

  event(event: QimEvent): void {
    switch (event.kind) {
      case 'messageCommitted':
        this.#committed(event.message);
        break;
      case 'messageAmended':
        this.windows.push(event.message);
        this.touched(event.message.conversationId, 'other');
        break;
      case 'conversationChanged':
        // It may be one that the user has just joined.
        this.touched(event.conversationId, 'activity');
        this.windows.touchMembers(event.conversationId);
        // Or the user has cleared its history on another device.
        this.windows.get(event.conversationId)?.resync();
        break;
      case 'readAdvanced':
        if (event.userId === this.#userId) {
          if (!this.#marker.isOwn(event.conversationId, event.readConversationSeq)) this.touched(event.conversationId, 'other');
        } else this.windows.readBy(event.conversationId, event.userId, event.readConversationSeq);
        break;
      case 'removed':
        this.removed(event.conversationId);
        break;
      case 'typing':
        if (event.userId !== this.#userId) this.typing.heard(event.conversationId, event.userId, event.on);
        break;
      case 'presence':
        this.presence.heard(event.userId, event.online);
        break;
      case 'resyncNeeded':
        this.resync();
        break;
    }
  }

  /** Its entry has to be read again, and the totals. */
  touched(conversationId: string, touch: 'activity' | 'other'): void {
    this.list.touch(conversationId, touch);
    this.totals.touch();
  }

  /** An answer that holds it as it is now. */
  changed(conversation: Conversation): void {
    this.touched(conversation.conversationId, 'activity');
    this.windows.touchMembers(conversation.conversationId);
    this.windows.noted(conversation);
  }

  amended(message: Message): void {
    this.windows.push(message);
    this.touched(message.conversationId, 'other');
  }

  removed(conversationId: string): void {
    this.windows.get(conversationId)?.removed();
    this.list.remove(conversationId);
    this.totals.touch();
  }

  #committed(message: Message): void {
    this.windows.push(message);
    this.touched(message.conversationId, 'activity');
    this.typing.heard(message.conversationId, message.senderUserId, false);
    if (message.content.kind === 'control') this.windows.touchMembers(message.conversationId);
  }

  /** Whether a window will show it. */
  #sent({ message, duplicate }: SentMessage): boolean {
    const { conversationId, conversationSeq } = message;
    // A duplicate of what is gone by now comes with its ids alone: history knows more.
    const isWhole = message.activityId !== '';
    this.list.sent(message, isWhole && !duplicate);
    this.totals.touch();
    this.typing.sent(conversationId);
    const window = this.windows.get(conversationId);
    if (isWhole) window?.push(message);
    else window?.resync();
    this.#marker.sent(conversationId, conversationSeq, window?.before(conversationSeq));
    return window !== undefined && isWhole;
  }

  #sound(conversationId: string): SoundConversation | undefined {
    const entry = this.list.find(conversationId);
    return entry?.damaged === undefined ? entry : undefined;
  }

  #listToKeep(): readonly Conversation[] | undefined {
    const { status, stale, conversations } = this.list.state.snapshot();
    return status === 'ready' && !stale ? conversations : undefined;
  }
}

/** A window reads by two services. */
function windowApi({ session, conversations }: Api): ConstructorParameters<typeof Windows>[0]['api'] {
  return {
    readHistory: (input) => session.readHistory(input),
    catchUp: (input) => session.catchUp(input),
    getConversation: (conversationId) => session.getConversation(conversationId),
    listMembers: (conversationId, pageToken) => conversations.listMembers(conversationId, pageToken),
    readMarks: (conversationId) => conversations.readMarks(conversationId),
  };
}
