/**
 * Messages on their way. A client message id is made once, and every try uses it, also after a restart, so that whatever was
 * lost on the way there or back ends in one message. One conversation's messages go one after another, those of before a
 * restart first: the sender's order is kept.
 *
 * Without a link they wait for as long as it takes. `begin` lets the first one go: what was kept has to come before it.
 */
import { CALL_TIMEOUT_MS, CLIENT_OUTBOX_MAX, SEND_AGE_MS_MAX, SEND_RETRY_MS_MAX } from '@qim/proto';
import type { MessageApi, SentMessage } from './api/message-api.js';
import type { Environment } from './environment.js';
import {
  asClientError,
  clientError,
  type FailureRecord,
  failureFrom,
  failureOf,
  isOfThisLink,
  type QimClientError,
  withOutcome,
} from './errors.js';
import type { OutgoingContent, SendMessageInput, SendTarget } from './inputs.js';
import { Cell, type Observable } from './observable.js';
import { retrying } from './retry.js';

export interface OutgoingMessage {
  readonly clientMessageId: string;
  readonly target: SendTarget;
  readonly content: OutgoingContent;
  /** Unix milliseconds by this device's clock. */
  readonly createdAtMs: number;
  /** sent: acknowledged, and not yet shown by the window. failed: `retry` or `drop` it. */
  readonly status: 'sending' | 'sent' | 'failed';
  /** Why it failed; `outcomeUnknown`: it may have arrived, and a retry finds out. */
  readonly error: QimClientError | undefined;
}

type SendInput = SendMessageInput & { readonly clientMessageId: string };

/** One message as it is kept until it is acknowledged or dropped. */
export interface KeptMessage {
  /** Of two, the smaller one was written first. Whole milliseconds at least, by this device's clock. */
  readonly order: number;
  readonly createdAtMs: number;
  readonly input: SendInput;
  /** Undefined: yet to be sent. */
  readonly failure: FailureRecord | undefined;
}

/** Must not throw; what cannot be kept is not kept. */
export interface OutboxKeeper {
  put(message: KeptMessage): void;
  remove(message: KeptMessage): void;
}

interface Entry {
  kept: KeptMessage;
  shown: OutgoingMessage;
  resolve: (sent: SentMessage) => void;
  reject: (error: QimClientError) => void;
}

export interface OutboxOptions {
  readonly api: Pick<MessageApi, 'sendOnce'>;
  readonly environment: Environment;
  readonly keeper: OutboxKeeper;
  /** Between two tries; rejects once no call is made any more. */
  readonly pause: (ms: number) => Promise<void>;
  /** Told of each acknowledged one. True: somebody will `settle` it once it shows. */
  readonly sent: (sent: SentMessage) => boolean;
}

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #entries = new Map<string, Entry>();
  /** What is yet to be sent, for each conversation that has any. */
  readonly #queues = new Map<string, Entry[]>();
  readonly #draining = new Set<string>();
  readonly #state = new Cell<readonly OutgoingMessage[]>([]);
  #lastOrder = 0;
  #begun = false;
  #closed = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** All of them, oldest first. */
  get state(): Observable<readonly OutgoingMessage[]> {
    return this.#state;
  }

  /** What was kept, in order. It goes first, and then whatever was given meanwhile. */
  begin(kept: readonly KeptMessage[]): void {
    if (this.#closed) return;
    const later = [...this.#entries.values()];
    this.#entries.clear();
    this.#queues.clear();
    this.#adopt(kept);
    for (const entry of later) {
      this.#entries.set(entry.kept.input.clientMessageId, entry);
      this.#options.keeper.put(entry.kept);
      if (entry.shown.status === 'sending') this.#enqueue(entry);
    }
    this.#begun = true;
    this.#publish();
    this.#drainAll();
  }

  /** What another one left behind; those that are here already stay as they are. */
  adopt(kept: readonly KeptMessage[]): void {
    this.#adopt(kept);
    this.#publish();
    this.#drainAll();
  }

  /** @throws QimClientError what the send ended with; CLIENT_LIMIT */
  send(input: SendMessageInput): Promise<SentMessage> {
    const { environment, keeper } = this.#options;
    const clientMessageId = input.clientMessageId ?? environment.newId();
    if (this.#entries.size >= CLIENT_OUTBOX_MAX) {
      return Promise.reject(clientError('CLIENT_LIMIT', `at most ${CLIENT_OUTBOX_MAX} messages may wait to be sent`));
    }
    if (this.#entries.has(clientMessageId)) {
      return Promise.reject(clientError('CLIENT_LIMIT', 'a message with this clientMessageId is being sent already'));
    }
    const createdAtMs = environment.now();
    this.#lastOrder = Math.max(this.#lastOrder + 1, createdAtMs);
    const kept: KeptMessage = { order: this.#lastOrder, createdAtMs, input: { ...input, clientMessageId }, failure: undefined };
    return new Promise((resolve, reject) => {
      const entry: Entry = { kept, shown: shownOf(kept), resolve, reject };
      this.#entries.set(clientMessageId, entry);
      // Kept while it travels: one that is lost on either way is there on the other.
      keeper.put(kept);
      this.#publish();
      this.#enqueue(entry);
      this.#drainAll();
    });
  }

  /** Sends a failed one again, under its id. @throws as `send`; CLIENT_LIMIT when there is no such failed one */
  retry(clientMessageId: string): Promise<SentMessage> {
    const entry = this.#entries.get(clientMessageId);
    if (entry?.shown.status !== 'failed') return Promise.reject(clientError('CLIENT_LIMIT', 'no such failed message'));
    return new Promise((resolve, reject) => {
      entry.resolve = resolve;
      entry.reject = reject;
      this.#again(entry);
    });
  }

  /** Forgets a failed one. */
  drop(clientMessageId: string): void {
    const entry = this.#entries.get(clientMessageId);
    if (entry?.shown.status !== 'failed') return;
    this.#options.keeper.remove(entry.kept);
    this.#forget(clientMessageId);
  }

  /** A sent one shows in its conversation now. */
  settle(clientMessageId: string): void {
    const entry = this.#entries.get(clientMessageId);
    if (entry === undefined || entry.shown.status === 'sending') return;
    // A failed one that shows after all did arrive.
    if (entry.shown.status === 'failed') this.#options.keeper.remove(entry.kept);
    this.#forget(clientMessageId);
  }

  /** The link is back: what failed for want of it goes again. */
  resume(): void {
    for (const entry of this.#entries.values()) {
      const { status, error } = entry.shown;
      if (status === 'failed' && error !== undefined && isOfThisLink(error)) this.#again(entry);
    }
  }

  /** Once no call is made any more: what still waits to be begun fails as the others do. */
  close(): void {
    this.#closed = true;
    this.#begun = true;
    this.#drainAll();
  }

  #adopt(kept: readonly KeptMessage[]): void {
    for (const message of kept) {
      const { clientMessageId } = message.input;
      if (this.#entries.has(clientMessageId) || this.#entries.size >= CLIENT_OUTBOX_MAX) continue;
      this.#lastOrder = Math.max(this.#lastOrder, message.order);
      // Nobody waits for it any more.
      const entry: Entry = { kept: this.#aged(message), shown: shownOf(message), resolve: () => {}, reject: () => {} };
      entry.shown = shownOf(entry.kept);
      this.#entries.set(clientMessageId, entry);
      this.#options.keeper.put(entry.kept);
      if (entry.shown.status === 'sending') this.#enqueue(entry);
    }
  }

  /** Too old to be sent without asking: the server may have forgotten that it came. */
  #aged(message: KeptMessage): KeptMessage {
    if (message.failure !== undefined || this.#options.environment.now() - message.createdAtMs <= SEND_AGE_MS_MAX) return message;
    const tooOld = clientError('TOO_OLD', 'it waited for so long that sending it again might double it', true);
    return { ...message, failure: failureOf(tooOld) };
  }

  #again(entry: Entry): void {
    entry.kept = { ...entry.kept, failure: undefined };
    this.#options.keeper.put(entry.kept);
    this.#show(entry, { status: 'sending', error: undefined });
    this.#enqueue(entry);
    this.#drainAll();
  }

  #enqueue(entry: Entry): void {
    const key = keyOf(entry.kept.input.target);
    const queue = this.#queues.get(key);
    if (queue === undefined) this.#queues.set(key, [entry]);
    else queue.push(entry);
  }

  #drainAll(): void {
    if (!this.#begun) return;
    for (const [key, queue] of this.#queues) if (!this.#draining.has(key)) void this.#drain(key, queue);
  }

  async #drain(key: string, queue: Entry[]): Promise<void> {
    this.#draining.add(key);
    for (let entry = queue[0]; entry !== undefined; entry = queue[0]) {
      await this.#deliver(entry);
      queue.shift();
    }
    this.#draining.delete(key);
    this.#queues.delete(key);
  }

  async #deliver(entry: Entry): Promise<void> {
    const { keeper, sent } = this.#options;
    try {
      const answer = await this.#sendFor(entry);
      keeper.remove(entry.kept);
      if (sent(answer)) this.#show(entry, { status: 'sent', error: undefined });
      else this.#forget(entry.kept.input.clientMessageId);
      entry.resolve(answer);
    } catch (error) {
      const known = asClientError(error, 'sending');
      // What ends with this client goes on with the next one.
      if (!isOfThisLink(known)) {
        entry.kept = { ...entry.kept, failure: failureOf(known) };
        keeper.put(entry.kept);
      }
      this.#show(entry, { status: 'failed', error: known });
      entry.reject(known);
    }
  }

  /** For as long as there is no link; for SEND_RETRY_MS_MAX when the server does not answer, or says that it cannot. */
  async #sendFor(entry: Entry): Promise<SentMessage> {
    const { api, environment, pause } = this.#options;
    const bounds = { withinMs: SEND_RETRY_MS_MAX, pause };
    let outcomeUnknown = false;
    for (;;) {
      try {
        return await retrying(environment, bounds, (leftMs) => api.sendOnce(entry.kept.input, Math.min(leftMs, CALL_TIMEOUT_MS)));
      } catch (error) {
        const known = asClientError(error, 'sending');
        outcomeUnknown ||= known.outcomeUnknown;
        if (known.reason !== 'NOT_CONNECTED' && known.reason !== 'CONNECTION_LOST') throw withOutcome(known, outcomeUnknown);
      }
    }
  }

  #show(entry: Entry, change: Pick<OutgoingMessage, 'status' | 'error'>): void {
    entry.shown = { ...entry.shown, ...change };
    this.#publish();
  }

  #forget(clientMessageId: string): void {
    if (this.#entries.delete(clientMessageId)) this.#publish();
  }

  #publish(): void {
    this.#state.set(Array.from(this.#entries.values(), ({ shown }) => shown));
  }
}

function shownOf({ input, createdAtMs, failure }: KeptMessage): OutgoingMessage {
  return {
    clientMessageId: input.clientMessageId,
    target: input.target,
    content: typeof input.content === 'string' ? { kind: 'text', text: input.content } : input.content,
    createdAtMs,
    status: failure === undefined ? 'sending' : 'failed',
    error: failure && failureFrom(failure),
  };
}

function keyOf(target: SendTarget): string {
  return 'conversationId' in target ? `conversation ${target.conversationId}` : `user ${target.toUserId}`;
}
