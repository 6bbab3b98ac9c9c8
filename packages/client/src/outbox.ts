/**
 * Messages on their way. A client message id is made once, and every retry uses it, so that whatever was lost on the way
 * there or back ends in one message. One conversation's messages go one after another: the sender's order is kept.
 */
import { CALL_TIMEOUT_MS, CLIENT_OUTBOX_MAX, SEND_RETRY_MS_MAX } from '@qim/proto';
import type { Api, SentMessage } from './api.js';
import type { Environment } from './environment.js';
import { asClientError, clientError, type QimClientError } from './errors.js';
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

interface Entry {
  readonly input: SendMessageInput & { readonly clientMessageId: string };
  shown: OutgoingMessage;
  resolve: (sent: SentMessage) => void;
  reject: (error: QimClientError) => void;
}

export interface OutboxOptions {
  readonly api: Pick<Api, 'sendOnce'>;
  readonly environment: Environment;
  /** Told of each acknowledged one. True: somebody will `settle` it once it shows. */
  readonly sent: (sent: SentMessage) => boolean;
}

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #entries = new Map<string, Entry>();
  /** What is yet to be sent, for each conversation that has any. */
  readonly #queues = new Map<string, Entry[]>();
  readonly #state = new Cell<readonly OutgoingMessage[]>([]);
  readonly #closing = new AbortController();

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** All of them, oldest first. */
  get state(): Observable<readonly OutgoingMessage[]> {
    return this.#state;
  }

  /** @throws QimClientError what the send ended with, at most SEND_RETRY_MS_MAX after its turn came; CLIENT_LIMIT */
  send(input: SendMessageInput): Promise<SentMessage> {
    const { environment } = this.#options;
    const clientMessageId = input.clientMessageId ?? environment.newId();
    if (this.#entries.size >= CLIENT_OUTBOX_MAX) {
      return Promise.reject(clientError('CLIENT_LIMIT', `at most ${CLIENT_OUTBOX_MAX} messages may wait to be sent`));
    }
    if (this.#entries.has(clientMessageId)) {
      return Promise.reject(clientError('CLIENT_LIMIT', 'a message with this clientMessageId is being sent already'));
    }
    const shown: OutgoingMessage = {
      clientMessageId,
      target: input.target,
      content: typeof input.content === 'string' ? { kind: 'text', text: input.content } : input.content,
      createdAtMs: environment.now(),
      status: 'sending',
      error: undefined,
    };
    return new Promise((resolve, reject) => {
      const entry: Entry = { input: { ...input, clientMessageId }, shown, resolve, reject };
      this.#entries.set(clientMessageId, entry);
      this.#publish();
      this.#enqueue(entry);
    });
  }

  /** Sends a failed one again, under its id. @throws as `send`; CLIENT_LIMIT when there is no such failed one */
  retry(clientMessageId: string): Promise<SentMessage> {
    const entry = this.#entries.get(clientMessageId);
    if (entry?.shown.status !== 'failed') return Promise.reject(clientError('CLIENT_LIMIT', 'no such failed message'));
    return new Promise((resolve, reject) => {
      entry.resolve = resolve;
      entry.reject = reject;
      this.#show(entry, { status: 'sending', error: undefined });
      this.#enqueue(entry);
    });
  }

  /** Forgets a failed one. */
  drop(clientMessageId: string): void {
    if (this.#entries.get(clientMessageId)?.shown.status === 'failed') this.#forget(clientMessageId);
  }

  /** A sent one shows in its conversation now. */
  settle(clientMessageId: string): void {
    const status = this.#entries.get(clientMessageId)?.shown.status;
    // A failed one that shows after all did arrive.
    if (status === 'sent' || status === 'failed') this.#forget(clientMessageId);
  }

  close(): void {
    this.#closing.abort();
  }

  #enqueue(entry: Entry): void {
    const key = keyOf(entry.input.target);
    const queue = this.#queues.get(key);
    if (queue !== undefined) {
      queue.push(entry);
      return;
    }
    const fresh = [entry];
    this.#queues.set(key, fresh);
    void this.#drain(key, fresh);
  }

  async #drain(key: string, queue: Entry[]): Promise<void> {
    for (let entry = queue[0]; entry !== undefined; entry = queue[0]) {
      await this.#deliver(entry);
      queue.shift();
    }
    this.#queues.delete(key);
  }

  async #deliver(entry: Entry): Promise<void> {
    const { api, environment, sent } = this.#options;
    try {
      const bounds = { withinMs: SEND_RETRY_MS_MAX, signal: this.#closing.signal };
      const answer = await retrying(environment, bounds, (leftMs) => api.sendOnce(entry.input, Math.min(leftMs, CALL_TIMEOUT_MS)));
      if (sent(answer)) this.#show(entry, { status: 'sent', error: undefined });
      else this.#forget(entry.input.clientMessageId);
      entry.resolve(answer);
    } catch (error) {
      const known = asClientError(error, 'sending');
      this.#show(entry, { status: 'failed', error: known });
      entry.reject(known);
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

function keyOf(target: SendTarget): string {
  return 'conversationId' in target ? `conversation ${target.conversationId}` : `user ${target.toUserId}`;
}
