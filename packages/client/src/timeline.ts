/**
 * What is held of one conversation, and how pages and pushes merge into it. No I/O, no time.
 *
 * Invariant: `messages` is ascending, and holds everything that history shows from its first message to `coveredTo`. A push
 * past `coveredTo` + 1 waits, unseen, until history has said what lies between: sequences have legal holes, so only history
 * can tell a hole from a loss. Applying the same page or push twice changes nothing.
 *
 * While `hasNewer` it is a part of the past that was jumped to: what is pushed past it is not of it, and history alone leads on.
 */
import { CLIENT_PUSHES_WAITING_MAX, CLIENT_WINDOW_MESSAGES_MAX } from '@qim/proto';
import { newer, withoutQuote } from './newer.js';
import type { HistoryPage, Message } from './types.js';

/**
 * merged: shown now. waiting: history must be asked after `coveredTo`. ignored: held already, or not of this window.
 * conflict: what is held is not what the server has; drop it all and begin anew.
 */
export type PushOutcome = 'merged' | 'waiting' | 'ignored' | 'conflict';

interface WaitingPush {
  readonly message: Message;
  /** Which push it was, counted from the beginning. */
  readonly arrival: number;
}

export class Timeline {
  #messages: readonly Message[] = [];
  readonly #waiting = new Map<number, WaitingPush>();
  #arrivals = 0;
  #begun = false;
  #coveredTo = 0;
  #epoch = 0;
  #hasOlder = false;
  #hasNewer = false;

  get messages(): readonly Message[] {
    return this.#messages;
  }
  /** False: only pushes came so far. */
  get begun(): boolean {
    return this.#begun;
  }
  /** 0: nothing yet. */
  get coveredTo(): number {
    return this.#coveredTo;
  }
  get epoch(): number {
    return this.#epoch;
  }
  /** History has more before the first message held. */
  get hasOlder(): boolean {
    return this.#hasOlder;
  }
  /** History has more after the last message held: this is not its end. */
  get hasNewer(): boolean {
    return this.#hasNewer;
  }
  get hasWaiting(): boolean {
    return this.#waiting.size > 0;
  }
  /** Pass it to `applyForward`: pushes up to here came before the page was asked for. */
  get arrivals(): number {
    return this.#arrivals;
  }

  /** A page that makes the beginning: the newest, or with `hasNewer` one of the past. */
  begin(page: HistoryPage, hasNewer = false): void {
    this.#begun = true;
    this.#hasNewer = hasNewer;
    this.#messages = page.messages;
    this.#coveredTo = page.messages.at(-1)?.conversationSeq ?? 0;
    this.#epoch = page.epoch;
    this.#hasOlder = page.hasMore;
    for (const [seq, { message }] of [...this.#waiting]) {
      if (message.epoch !== page.epoch) this.#waiting.delete(seq);
      else if (seq <= this.#coveredTo) {
        this.#waiting.delete(seq);
        // A conflict with what came before the page: the page is the newer.
        this.#amend(message);
      }
    }
    this.#absorb();
  }

  /** What precedes the first message held. False: a conflict. */
  applyOlder(page: HistoryPage): boolean {
    if (page.epoch !== this.#epoch) return false;
    const first = this.#messages[0]?.conversationSeq ?? Number.POSITIVE_INFINITY;
    this.#messages = [...page.messages.filter((message) => message.conversationSeq < first), ...this.#messages];
    this.#hasOlder = page.hasMore;
    return true;
  }

  /**
   * What follows `after`, which is at or below `coveredTo`, or just before the first message held. `coveredThen` and
   * `arrivalsThen` are the values at the time of asking: what came later is not the page's to deny. False: a conflict.
   */
  applyForward(page: HistoryPage, asked: { after: number; coveredThen: number; arrivalsThen: number }): boolean {
    if (page.epoch !== this.#epoch) return false;
    const last = page.messages.at(-1)?.conversationSeq ?? asked.after;
    // The page is the whole truth up to its last message; when nothing follows, up to what was held at the time.
    const end = page.hasMore ? last : Math.max(last, asked.coveredThen);
    // Below the first one held: trimmed meanwhile, to be loaded again by scrolling only.
    const first = this.#messages[0]?.conversationSeq ?? 0;
    const bySeq = new Map(page.messages.filter((m) => m.conversationSeq >= first).map((message) => [message.conversationSeq, message]));
    const kept: Message[] = [];
    for (const held of this.#messages) {
      const seq = held.conversationSeq;
      const given = bySeq.get(seq);
      if (given !== undefined && given.messageId !== held.messageId) return false;
      if (given === undefined && seq > asked.after && seq <= end) continue;
      kept.push(given === undefined ? held : newer(held, given));
      bySeq.delete(seq);
    }
    this.#messages = [...kept, ...bySeq.values()].sort((a, b) => a.conversationSeq - b.conversationSeq);
    this.#coveredTo = Math.max(this.#coveredTo, last);
    if (!page.hasMore) this.#hasNewer = false;
    if (!this.#mergeCoveredWaiting()) return false;
    if (!page.hasMore) this.#denyWaiting(asked.arrivalsThen);
    this.#absorb();
    return true;
  }

  /** The present state of messages at or below `coveredTo`, of this epoch. False: a conflict. */
  applyAmended(messages: readonly Message[]): boolean {
    return messages.every((message) => this.#amend(message) !== 'conflict');
  }

  push(message: Message): PushOutcome {
    this.#arrivals += 1;
    const seq = message.conversationSeq;
    if (this.#begun) {
      // An older epoch's push was long on its way.
      if (message.epoch < this.#epoch) return 'ignored';
      if (message.epoch > this.#epoch) return 'conflict';
      if (seq <= this.#coveredTo) return this.#amend(message);
      if (this.#hasNewer) return 'ignored';
    }
    const before = this.#waiting.get(seq)?.message;
    const isNext = this.#begun && seq === this.#coveredTo + 1;
    if (before === undefined && !isNext && this.#waiting.size >= CLIENT_PUSHES_WAITING_MAX) return 'waiting';
    if (before !== undefined && before.messageId !== message.messageId) return 'conflict';
    this.#waiting.set(seq, { message: before === undefined ? message : newer(before, message), arrival: this.#arrivals });
    if (!this.#begun) return 'waiting';
    this.#absorb();
    return seq <= this.#coveredTo ? 'merged' : 'waiting';
  }

  #amend(message: Message): PushOutcome {
    const unquoted = withoutQuote(this.#messages, message);
    const outcome = this.#replace(message);
    if (unquoted === undefined || outcome === 'conflict') return outcome;
    this.#messages = outcome === 'merged' ? (withoutQuote(this.#messages, message) ?? this.#messages) : unquoted;
    return 'merged';
  }

  #replace(message: Message): PushOutcome {
    const at = indexOfSeq(this.#messages, message.conversationSeq);
    const held = this.#messages[at];
    // Older than what is loaded; or in the middle of it, where history showed nothing: sequences are never given late.
    if (held === undefined)
      return message.conversationSeq < (this.#messages[0]?.conversationSeq ?? Number.POSITIVE_INFINITY) ? 'ignored' : 'conflict';
    if (held.messageId !== message.messageId) return 'conflict';
    const kept = newer(held, message);
    if (kept === held) return 'ignored';
    this.#messages = this.#messages.with(at, kept);
    return 'merged';
  }

  /** Waiting ones that follow without a gap. */
  #absorb(): void {
    if (!this.#begun) return;
    const added: Message[] = [];
    for (let next = this.#waiting.get(this.#coveredTo + 1); next !== undefined; next = this.#waiting.get(this.#coveredTo + 1)) {
      this.#coveredTo += 1;
      this.#waiting.delete(this.#coveredTo);
      added.push(next.message);
    }
    if (added.length > 0) this.#messages = [...this.#messages, ...added];
    const excess = this.#messages.length - CLIENT_WINDOW_MESSAGES_MAX;
    if (excess <= 0) return;
    this.#messages = this.#messages.slice(excess);
    this.#hasOlder = true;
  }

  /** Waiting ones that a page has just covered. False: a conflict. */
  #mergeCoveredWaiting(): boolean {
    for (const [seq, { message }] of [...this.#waiting]) {
      if (seq > this.#coveredTo) continue;
      this.#waiting.delete(seq);
      if (message.epoch === this.#epoch && this.#amend(message) === 'conflict') return false;
    }
    return true;
  }

  /** History, asked after these came, ends before them: it does not show them to this user. */
  #denyWaiting(arrivalsThen: number): void {
    for (const [seq, { arrival }] of [...this.#waiting]) if (arrival <= arrivalsThen) this.#waiting.delete(seq);
  }
}

/** -1: not held. Binary search: a window holds thousands. */
function indexOfSeq(messages: readonly Message[], seq: number): number {
  let low = 0;
  let high = messages.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const at = messages[middle]?.conversationSeq ?? 0;
    if (at === seq) return middle;
    if (at < seq) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
