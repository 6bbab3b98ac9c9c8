/**
 * A device that keeps what it shows by events and catch-ups alone, over the read side's own contract. It reads history
 * never, and the whole list only when it is told that events may have been lost.
 */
import {
  type Caller,
  type ConversationId,
  type ConversationSeq,
  isQimError,
  type Message,
  parseConversationSeq,
  parseDeviceId,
  SEQ_ZERO,
  type TenantId,
  type UserId,
} from '@qim/proto';
import type { EventSink, PushEvent } from '@qim/push';
import type { ListedConversation, Session } from '@qim/session';

interface Held {
  epoch: number;
  /** What there is up to here is held. */
  covered: ConversationSeq;
  cursor: number;
  readonly messages: Map<ConversationSeq, Shown>;
}

/** A message as a device shows it. */
export type Shown = Pick<Message, 'record' | 'reactions'>;

export function shownOf({ record, reactions }: Message): Shown {
  return { record, reactions };
}

/** Which of two states of one message is the later. */
function isLater(one: Shown, other: Shown): boolean {
  if (one.record.revision !== other.record.revision) return one.record.revision > other.record.revision;
  return (one.reactions?.revision ?? 0) > (other.reactions?.revision ?? 0);
}

/** Small, so that a catch-up has pages. */
const CATCH_UP_LIMIT = 3;
const LIST_PAGE = 2;

export class SimulatedDevice implements EventSink {
  readonly tenantId: TenantId;
  readonly userId: UserId;
  readonly deviceId = parseDeviceId('pad');
  readonly #session: Session;
  readonly #entries = new Map<ConversationId, ListedConversation>();
  readonly #held = new Map<ConversationId, Held>();
  readonly #inbox: PushEvent[] = [];

  constructor(session: Session, tenantId: TenantId, userId: UserId) {
    this.#session = session;
    this.tenantId = tenantId;
    this.userId = userId;
  }

  get caller(): Caller {
    return { tenantId: this.tenantId, userId: this.userId, deviceId: this.deviceId, admin: false };
  }
  get entries(): ReadonlyMap<ConversationId, ListedConversation> {
    return this.#entries;
  }

  /** Ascending. */
  messages(conversationId: ConversationId): readonly Shown[] {
    const messages = [...(this.#held.get(conversationId)?.messages.values() ?? [])];
    return messages.sort((a, b) => a.record.conversationSeq - b.record.conversationSeq);
  }

  deliver(event: PushEvent): void {
    this.#inbox.push(event);
  }

  /** Handles what came, and what comes meanwhile. */
  async settle(): Promise<void> {
    for (let event = this.#inbox.shift(); event !== undefined; event = this.#inbox.shift()) await this.#handle(event);
  }

  async #handle(event: PushEvent): Promise<void> {
    switch (event.kind) {
      case 'messageCommitted':
      case 'messageAmended': {
        const { conversationId } = event.message.record;
        if (!this.#apply(event.message)) await this.#catchUp(conversationId);
        return this.#refresh(conversationId);
      }
      case 'removed':
        // It may be older than the next joining.
        this.#drop(event.conversationId);
        return this.#refresh(event.conversationId);
      case 'readAdvanced':
      case 'conversationChanged':
        return this.#refresh(event.conversationId);
      case 'resyncNeeded':
        return this.#resync();
      // Of what is shown in passing nothing is kept.
      case 'typing':
      case 'presence':
      case 'suspended':
        return;
    }
  }

  /** False: something lies between, or what is held is of another epoch; only the server knows. */
  #apply(message: Message): boolean {
    const { record, epoch } = message;
    const held = this.#held.get(record.conversationId);
    if (held === undefined || held.epoch !== epoch) return held === undefined;
    const { conversationSeq } = record;
    if (conversationSeq > held.covered + 1) return false;
    const before = held.messages.get(conversationSeq);
    if (conversationSeq > held.covered) held.covered = conversationSeq;
    else if (before === undefined || !isLater(message, before)) return true;
    held.messages.set(conversationSeq, shownOf(message));
    return true;
  }

  /** Reads the conversation's entry, and begins to hold it when it is new. */
  async #refresh(conversationId: ConversationId): Promise<void> {
    try {
      await this.#take(await this.#session.getConversation(this.caller, conversationId, false));
    } catch (error) {
      this.#dropWhenGone(conversationId, error);
    }
  }

  async #take(entry: ListedConversation): Promise<void> {
    const { conversationId } = entry;
    this.#entries.set(conversationId, entry);
    if (entry.damaged !== undefined || this.#held.has(conversationId)) return;
    const cursor = entry.listing.amendmentNumber;
    this.#held.set(conversationId, { epoch: 0, covered: SEQ_ZERO, cursor, messages: new Map() });
    await this.#catchUp(conversationId);
  }

  async #resync(): Promise<void> {
    const listed = await listAll(this.#session, this.caller);
    const ids = new Set(listed.map(({ conversationId }) => conversationId));
    for (const conversationId of [...this.#entries.keys()]) if (!ids.has(conversationId)) this.#drop(conversationId);
    for (const entry of listed) {
      await this.#take(entry);
      await this.#catchUp(entry.conversationId);
    }
  }

  async #catchUp(conversationId: ConversationId): Promise<void> {
    const held = this.#held.get(conversationId);
    if (held === undefined) return;
    try {
      for (let more = true; more; ) more = await this.#catchUpPage(conversationId, held);
    } catch (error) {
      this.#dropWhenGone(conversationId, error);
    }
  }

  /** True: there is more. */
  async #catchUpPage(conversationId: ConversationId, held: Held): Promise<boolean> {
    const asked = { conversationId, epoch: held.epoch, after: held.covered, amendmentCursor: held.cursor, limit: CATCH_UP_LIMIT };
    const page = await this.#session.catchUp(this.caller, asked);
    if (page.reset) throw new Error('nothing was lost: there is no reason to begin anew');
    for (const message of page.messages) held.messages.set(message.record.conversationSeq, shownOf(message));
    for (const message of page.amended) {
      const before = held.messages.get(message.record.conversationSeq);
      if (before === undefined || isLater(message, before)) held.messages.set(message.record.conversationSeq, shownOf(message));
    }
    held.epoch = page.epoch;
    held.covered = parseConversationSeq(Math.max(held.covered, page.nextAfter));
    held.cursor = page.nextAmendmentCursor;
    return page.hasMore;
  }

  #drop(conversationId: ConversationId): void {
    this.#entries.delete(conversationId);
    this.#held.delete(conversationId);
  }

  #dropWhenGone(conversationId: ConversationId, error: unknown): void {
    if (!isQimError(error) || error.code !== 'NotMember') throw error;
    this.#drop(conversationId);
  }
}

/** In the order of the list. */
export async function listAll(session: Session, caller: Caller): Promise<readonly ListedConversation[]> {
  const all = new Map<ConversationId, ListedConversation>();
  let pageToken = '';
  do {
    const page = await session.listConversations(caller, { pageSize: LIST_PAGE, pageToken, explain: false });
    for (const entry of page.conversations) all.set(entry.conversationId, entry);
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  return [...all.values()];
}
