/**
 * One open conversation, kept equal to what a fresh fetch would show: subscribe first (the connection is, once it is
 * online), then catch up, on amendments too, then merge what is pushed. One reading at a time; whatever happens meanwhile asks
 * for one more.
 */
import { CATCH_UP_PAGES_MAX, CLIENT_WINDOW_MESSAGES_MAX, HISTORY_PAGE_SIZE_DEFAULT, HISTORY_PAGE_SIZE_MAX } from '@qim/proto';
import type { SessionApi } from './api/session-api.js';
import { besideDamage } from './beside-damage.js';
import { asClientError, cannotCatchUp, clientError, isNotMember, isWithoutLink, type QimClientError } from './errors.js';
import { badAnswer, isHeld, lastSeq, readAround } from './history-pages.js';
import { type MessagesState, NO_MESSAGES } from './messages-state.js';
import { Cell, type Observable } from './observable.js';
import { Timeline } from './timeline.js';
import type { Conversation, HistoryPage, Message } from './types.js';

/** What a window can go on from: everything that history showed from the first message to the last. */
export interface HeldMessages {
  readonly epoch: number;
  /** Undefined: not known. */
  readonly cursor: number | undefined;
  /** Ascending, at least one. */
  readonly messages: readonly Message[];
  readonly hasOlder: boolean;
}

/**
 * forward: what follows what is held. resync: also whether what is held still stands.
 */
type Wanted = 'nothing' | 'forward' | 'resync';

export interface MessageWindowOptions {
  readonly conversationId: string;
  readonly api: Pick<SessionApi, 'readHistory' | 'catchUp' | 'getConversation'>;
  /** The amendment cursor that the list holds: read before any record that is read now. Undefined: none held. */
  readonly heldCursor: () => number | undefined;
}

export class MessageWindow {
  readonly #options: MessageWindowOptions;
  readonly #state = new Cell<MessagesState>(NO_MESSAGES);
  #timeline = new Timeline();
  /** Undefined: not known, so that a resync reads everything held again. */
  #cursor: number | undefined;
  #wanted: Wanted = 'nothing';
  #running = false;
  /** The newest that was told of while reading; 0: none. What is being read may bring it. */
  #headNoted = 0;
  #olderRequest: Promise<void> | undefined;
  #newerRequest: Promise<void> | undefined;
  #closed = false;
  #stale = false;
  /** Why what is held does not reach the newest message, or begins where it does: until a whole page is read. */
  #damage: QimClientError | undefined;

  constructor(options: MessageWindowOptions) {
    this.#options = options;
  }

  get state(): Observable<MessagesState> {
    return this.#state;
  }

  push(message: Message): void {
    const outcome = this.#timeline.push(message);
    if (outcome === 'ignored' || this.#state.snapshot().status === 'removed') return;
    if (outcome === 'merged') this.#show();
    else if (outcome === 'waiting') this.#want('forward');
    else this.#startAnew();
  }

  /** Goes on from what was kept, unless the server has said something already. */
  restore({ messages, epoch, cursor, hasOlder }: HeldMessages): void {
    if (this.#timeline.begun || this.#running || this.#closed || this.#state.snapshot().status !== 'loading') return;
    this.#timeline.begin({ messages, epoch, hasMore: hasOlder });
    this.#cursor = cursor;
    this.#stale = true;
    this.#show();
  }

  /** What to keep; undefined: nothing that is known to be so. `max` of the newest. */
  held(max: number): HeldMessages | undefined {
    const { messages, epoch, hasOlder, hasNewer } = this.#timeline;
    if (messages.length === 0 || this.#stale || hasNewer) return undefined;
    const kept = messages.slice(-max);
    return { epoch, cursor: this.#cursor, messages: kept, hasOlder: hasOlder || kept.length < messages.length };
  }

  /** The sequence before this one, as far as is known without a gap: 0 before the first, undefined when it is not known. */
  before(seq: number): number | undefined {
    const { messages, coveredTo, hasOlder, begun } = this.#timeline;
    if (!begun || coveredTo < seq) return undefined;
    const at = messages.findLastIndex(({ conversationSeq }) => conversationSeq < seq);
    return messages[at]?.conversationSeq ?? (hasOlder ? undefined : 0);
  }

  /** Asks whether what is held still stands, and for what follows it. */
  resync(): void {
    this.#want('resync');
  }

  /** After an error. */
  retry(): void {
    if (this.#state.snapshot().status !== 'error') return;
    if (this.#damage === undefined) this.#want('resync');
    else this.startAnew();
  }

  /** What a list or a call has just said about this conversation. */
  noted(conversation: Conversation): void {
    if (this.#state.snapshot().status === 'removed') this.#startAnew();
    if (conversation.damaged !== undefined || !this.#timeline.begun) return;
    if (conversation.epoch !== this.#timeline.epoch) this.#want('resync');
    else if (this.#timeline.hasNewer) return;
    else if (this.#running) this.#headNoted = Math.max(this.#headNoted, conversation.latestConversationSeq);
    else if (conversation.latestConversationSeq > this.#timeline.coveredTo) this.#want('forward');
  }

  removed(): void {
    this.#timeline = new Timeline();
    this.#cursor = undefined;
    this.#damage = undefined;
    this.#stale = false;
    this.#wanted = 'nothing';
    this.#state.set({ ...NO_MESSAGES, status: 'removed' });
  }

  close(): void {
    this.#closed = true;
    this.#wanted = 'nothing';
  }

  /** One page of what precedes the first message; at once when there is none. @throws QimClientError */
  loadOlder(): Promise<void> {
    this.#olderRequest ??= this.#readOlder().finally(() => {
      this.#olderRequest = undefined;
    });
    return this.#olderRequest;
  }

  async #readOlder(): Promise<void> {
    const timeline = this.#timeline;
    const first = timeline.messages[0];
    if (first === undefined || !timeline.hasOlder) return;
    if (timeline.messages.length >= CLIENT_WINDOW_MESSAGES_MAX) {
      throw clientError('CLIENT_LIMIT', `an open conversation holds at most ${CLIENT_WINDOW_MESSAGES_MAX} messages`);
    }
    const { conversationId, api } = this.#options;
    const page = await api.readHistory({ conversationId, beforeSeq: first.conversationSeq, limit: HISTORY_PAGE_SIZE_DEFAULT });
    if (timeline !== this.#timeline) return;
    if (timeline.applyOlder(page)) this.#show();
    else this.#startAnew();
  }

  /**
   * Shows what is around this sequence, and nothing else unless that adjoins what is held; at once when it is held. Cost: 2 pages.
   * @throws QimClientError
   */
  async jumpTo(seq: number): Promise<void> {
    const timeline = this.#timeline;
    if (!timeline.begun || isHeld(timeline, seq)) return;
    const { conversationId, api } = this.#options;
    const { page, hasNewer } = await readAround(api, conversationId, seq);
    if (timeline !== this.#timeline || this.#closed) return;
    const first = timeline.messages[0]?.conversationSeq ?? 0;
    const last = page.messages.at(-1)?.conversationSeq ?? 0;
    // It reaches what is held, which goes on to the newest.
    if (!timeline.hasNewer && (last + 1 >= first || !hasNewer)) {
      if (timeline.applyOlder(page)) this.#show();
      else this.#startAnew();
    } else this.#goOnFrom(page, hasNewer);
  }

  /** One page of what follows, while there is a part of the past to show; at once otherwise. @throws QimClientError */
  loadNewer(): Promise<void> {
    this.#newerRequest ??= this.#readNewer().finally(() => {
      this.#newerRequest = undefined;
    });
    return this.#newerRequest;
  }

  async #readNewer(): Promise<void> {
    const timeline = this.#timeline;
    if (!timeline.hasNewer) return;
    const { conversationId, api } = this.#options;
    const { coveredTo, arrivals } = timeline;
    const page = await api.readHistory({ conversationId, afterSeq: coveredTo, limit: HISTORY_PAGE_SIZE_DEFAULT });
    if (timeline !== this.#timeline || this.#closed) return;
    if (!timeline.applyForward(page, { after: coveredTo, coveredThen: coveredTo, arrivalsThen: arrivals })) {
      this.#startAnew();
      return;
    }
    this.#show();
    // What was pushed meanwhile was not of this part.
    if (!timeline.hasNewer) this.#want('forward');
  }

  /** From a part of the past back to the newest page; at once when that is what is shown. @throws QimClientError */
  async toLatest(): Promise<void> {
    const timeline = this.#timeline;
    if (!timeline.hasNewer) return;
    const { conversationId, api } = this.#options;
    const page = await api.readHistory({ conversationId, limit: HISTORY_PAGE_SIZE_DEFAULT });
    if (timeline !== this.#timeline || this.#closed) return;
    this.#goOnFrom(page, false);
    this.#want('forward');
  }

  #goOnFrom(page: HistoryPage, hasNewer: boolean): void {
    this.#timeline = new Timeline();
    this.#timeline.begin(page, hasNewer);
    this.#cursor = undefined;
    this.#damage = undefined;
    this.#stale = false;
    this.#show();
  }

  /** What is held is not what the server shows any more. */
  startAnew(): void {
    if (!this.#closed) this.#startAnew();
  }

  #startAnew(): void {
    this.#timeline = new Timeline();
    this.#cursor = undefined;
    this.#damage = undefined;
    this.#stale = false;
    this.#state.set(NO_MESSAGES);
    this.#want('forward');
  }

  #want(wanted: 'forward' | 'resync'): void {
    if (this.#closed) return;
    if (this.#wanted !== 'resync') this.#wanted = wanted;
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    this.#running = true;
    let timeline = this.#timeline;
    try {
      while (this.#wanted !== 'nothing') {
        const wanted = this.#wanted;
        this.#wanted = 'nothing';
        timeline = this.#timeline;
        await this.#pass(wanted);
      }
    } catch (error) {
      // What was begun anew meanwhile is another matter, such as a membership that has ended and begun again.
      if (timeline === this.#timeline) this.#failed(error);
    } finally {
      this.#running = false;
    }
    // What was asked for between the failure and here.
    if (this.#wanted !== 'nothing') void this.#run();
  }

  async #pass(wanted: 'forward' | 'resync'): Promise<void> {
    const timeline = this.#timeline;
    // Beside damage the newest page is asked for again; a part of the past stays what it is.
    const stands =
      timeline.begun && (this.#damage === undefined || timeline.hasNewer)
        ? await (wanted === 'forward' ? this.#forward(timeline) : this.#resync(timeline))
        : await this.#begin(timeline);
    // Removed, reset or closed while it was read: the answer is of no more use.
    if (timeline !== this.#timeline || this.#closed) return;
    if (!stands) {
      // Ends by itself: a beginning conflicts with nothing, and only a further push leads on from it.
      this.#startAnew();
      return;
    }
    if (wanted === 'resync') this.#stale = false;
    this.#show();
    const more = !timeline.hasNewer && (timeline.hasWaiting || this.#headNoted > timeline.coveredTo);
    this.#headNoted = 0;
    if (more && this.#wanted === 'nothing') this.#wanted = 'forward';
  }

  async #begin(timeline: Timeline): Promise<boolean> {
    const { conversationId, api, heldCursor } = this.#options;
    const cursor = heldCursor();
    try {
      timeline.begin(await api.readHistory({ conversationId, limit: HISTORY_PAGE_SIZE_DEFAULT }));
    } catch (error) {
      const sound = await besideDamage(error, api, conversationId);
      if (sound === undefined || timeline !== this.#timeline) throw error;
      this.#damage = asClientError(error, 'reading messages');
      timeline.begin(sound.page, sound.hasNewer);
      return true;
    }
    if (timeline !== this.#timeline) return true;
    this.#damage = undefined;
    this.#cursor = cursor;
    return true;
  }

  /** What was amended of what is held, and what follows it. False: begin anew. */
  async #resync(timeline: Timeline): Promise<boolean> {
    const cursor = this.#cursor;
    if (timeline.hasNewer) return this.#recheckPart(timeline);
    try {
      if (cursor !== undefined) return (await this.#catchUp(timeline, cursor)) && (await this.#firstStands(timeline));
    } catch (error) {
      // An older server, or damage somewhere in what was amended: history still says what can be read.
      if (!cannotCatchUp(error)) throw error;
    }
    return (await this.#recheck(timeline)) && (await this.#forward(timeline));
  }

  async #catchUp(timeline: Timeline, from: number): Promise<boolean> {
    const { conversationId, api } = this.#options;
    let [afterSeq, amendmentCursor] = [timeline.coveredTo, from];
    for (let pages = 0; pages < CATCH_UP_PAGES_MAX; pages += 1) {
      const asked = { after: afterSeq, coveredThen: timeline.coveredTo, arrivalsThen: timeline.arrivals };
      const { epoch } = timeline;
      const page = await api.catchUp({ conversationId, epoch, afterSeq, amendmentCursor, limit: HISTORY_PAGE_SIZE_MAX });
      if (timeline !== this.#timeline) return true;
      if (page.reset || !timeline.applyForward(page, asked) || !timeline.applyAmended(page.amended)) return false;
      this.#cursor = page.nextAmendmentCursor;
      this.#show();
      if (!page.hasMore) return true;
      if (page.nextAfterSeq <= afterSeq && page.nextAmendmentCursor <= amendmentCursor) throw badAnswer();
      [afterSeq, amendmentCursor] = [page.nextAfterSeq, page.nextAmendmentCursor];
    }
    return false;
  }

  /** False: the oldest ones are gone, as when the user has cleared the history on another device. */
  async #firstStands(timeline: Timeline): Promise<boolean> {
    const first = timeline.messages[0];
    if (first === undefined || timeline !== this.#timeline) return true;
    const { conversationId, api } = this.#options;
    const page = await api.readHistory({ conversationId, afterSeq: first.conversationSeq - 1, limit: 1 });
    return timeline !== this.#timeline || page.messages[0]?.messageId === timeline.messages[0]?.messageId;
  }

  /** Whether what is held still stands, but for its epoch, which the next page tells; reads it again when something in the conversation was amended. */
  async #recheck(timeline: Timeline): Promise<boolean> {
    const { conversationId, api } = this.#options;
    const { coveredTo } = timeline;
    const conversation = await api.getConversation(conversationId);
    // A damaged one has no numbers to go by; history says what can be read.
    if (conversation.damaged !== undefined) return true;
    if (conversation.latestConversationSeq < coveredTo) return false;
    const first = timeline.messages[0];
    if (conversation.amendmentCursor === this.#cursor || first === undefined) return true;
    const stands = await this.#readForward(timeline, first.conversationSeq - 1, (after) => after >= coveredTo);
    if (stands && timeline === this.#timeline) this.#cursor = conversation.amendmentCursor;
    return stands;
  }

  /** A part of the past is read again as a whole. */
  #recheckPart(timeline: Timeline): Promise<boolean> {
    const { coveredTo } = timeline;
    const first = timeline.messages[0]?.conversationSeq ?? 1;
    return this.#readForward(timeline, first - 1, (after) => after >= coveredTo);
  }

  /** False as well when there is more than is worth reading: begin at the newest. */
  async #forward(timeline: Timeline): Promise<boolean> {
    if (timeline.hasNewer) return true;
    return this.#readForward(timeline, timeline.coveredTo, () => false);
  }

  async #readForward(timeline: Timeline, from: number, enough: (after: number) => boolean): Promise<boolean> {
    const { conversationId, api } = this.#options;
    let after = from;
    for (let pages = 0; pages < CATCH_UP_PAGES_MAX; pages += 1) {
      const asked = { after, coveredThen: timeline.coveredTo, arrivalsThen: timeline.arrivals };
      const page = await api.readHistory({ conversationId, afterSeq: after, limit: HISTORY_PAGE_SIZE_MAX });
      if (timeline !== this.#timeline) return true;
      if (!timeline.applyForward(page, asked)) return false;
      // Shown page by page: a link that breaks in the middle costs what is missing, not what came.
      this.#show();
      after = lastSeq(page, after);
      if (!page.hasMore || enough(after)) return true;
    }
    return false;
  }

  #show(): void {
    if (this.#closed || !this.#timeline.begun) return;
    const { messages, hasOlder, hasNewer } = this.#timeline;
    const error = this.#damage;
    this.#state.set({ status: error === undefined ? 'ready' : 'error', error, messages, hasOlder, hasNewer, stale: this.#stale });
  }

  #failed(error: unknown): void {
    if (this.#closed) return;
    if (isNotMember(error)) {
      this.removed();
      return;
    }
    const known = asClientError(error, 'reading messages');
    if (isWithoutLink(known)) return;
    this.#state.set({ ...this.#state.snapshot(), status: 'error', error: known });
  }
}
