/**
 * People who send, recall and read without a pause while things die, and the model of what must be there afterwards.
 *
 * Whatever fails is asked again under the same client message id until it is answered: so each intention has, at the end,
 * exactly one acknowledgement, and the model needs no guess.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { EXACT_UNREAD_SCAN_LIMIT } from '@qim/proto';
import type { Random } from '@qim/store/testing';
import { integer, text } from './api.js';
import type { Person, Sent } from './people.js';

interface Intention extends Sent {
  readonly by: string;
  readonly words: string;
  recalled: boolean;
}

/** One message in that many is recalled again. */
const RECALLED_OF = 12;
/** One turn in that many reads. */
const READING_OF = 5;
const RETRY_PAUSE_MS = 25;
/** Past the longest that a store may be away here. */
const ASKED_FOR_MS = 60_000;

export class Crowd {
  readonly conversationId: string;
  readonly #people: readonly Person[];
  readonly #random: Random;
  readonly #intentions: Intention[] = [];
  /** What each was last told to have read. */
  readonly #marks = new Map<string, number>();
  #stopped = false;
  /** Calls that failed and were made again. */
  failures = 0;

  constructor(conversationId: string, people: readonly Person[], random: Random) {
    this.conversationId = conversationId;
    this.#people = people;
    this.#random = random;
  }

  get acknowledged(): number {
    return this.#intentions.length;
  }

  /** Makes a message part of the model. */
  acknowledge(sent: Sent, by: Person, words: string): Intention {
    const intention = { ...sent, by: by.id, words, recalled: false };
    this.#intentions.push(intention);
    return intention;
  }

  /** Until `stop`; resolves when the last call has its answer. */
  async run(): Promise<void> {
    await Promise.all(this.#people.map((person) => this.#turns(person)));
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Every reader's history and badge against the model. */
  async check(): Promise<void> {
    const expected = [...this.#intentions].sort((a, b) => a.conversationSeq - b.conversationSeq);
    for (const reader of this.#people) {
      const history = (await reader.wholeHistory(this.conversationId)).filter((m) => m.type === 'MESSAGE_TYPE_TEXT');
      assert.deepEqual(
        history.map((m) => [text(m.messageId), integer(m.conversationSeq), m.senderUserId, m.text ?? '']),
        expected.map((i) => [i.messageId, i.conversationSeq, i.by, i.recalled ? '' : i.words]),
        `${reader.id} reads what was acknowledged, each message once, in its order`,
      );
      await this.#checkBadge(reader, expected);
    }
    this.#checkOrder();
  }

  async #checkBadge(reader: Person, expected: readonly Intention[]): Promise<void> {
    const read = this.#marks.get(reader.id) ?? 0;
    const head = expected.at(-1)?.conversationSeq ?? 0;
    const unread = expected.filter((i) => i.conversationSeq > read && i.by !== reader.id && !i.recalled).length;
    const exact = head - read <= EXACT_UNREAD_SCAN_LIMIT;
    const entry = await reader.entry(this.conversationId);
    assert.deepEqual(
      [entry.latestConversationSeq, entry.readConversationSeq, entry.unreadCount, entry.unreadExact],
      [String(head), String(read), exact ? unread : EXACT_UNREAD_SCAN_LIMIT, exact],
      `${reader.id}'s head, mark and badge`,
    );
  }

  /** Each sender's own messages lie in the order in which they were sent. */
  #checkOrder(): void {
    for (const { id } of this.#people) {
      const own = this.#intentions.filter(({ by }) => by === id).map((i) => i.conversationSeq);
      assert.ok(
        own.every((seq, i) => i === 0 || seq > (own[i - 1] ?? 0)),
        `${id}'s messages are in order`,
      );
    }
  }

  async #turns(person: Person): Promise<void> {
    for (let turn = 1; !this.#stopped; turn += 1) {
      const sent = await this.#send(person, `${person.id} says ${turn}`);
      if (this.#random.below(RECALLED_OF) === 0) await this.#recall(person, sent);
      if (this.#random.below(READING_OF) === 0) await this.#read(person, sent.conversationSeq);
    }
  }

  async #send(person: Person, words: string): Promise<Intention> {
    const clientMessageId = randomUUID();
    const sent = await this.#asked(() => person.say(this.conversationId, words, { clientMessageId }));
    return this.acknowledge(sent, person, words);
  }

  async #recall(person: Person, sent: Intention): Promise<void> {
    const { conversationId, messageId, conversationSeq } = sent;
    const target = { conversationId, messageId, conversationSeq: String(conversationSeq) };
    await this.#asked(async () => {
      const { status, body } = await person.answer('MessageService/RecallMessage', target);
      // An earlier try of this very call was carried out, and its answer lost.
      const before = status !== 200 && JSON.stringify(body).includes('MESSAGE_FINAL');
      assert.ok(status === 200 || before, JSON.stringify(body));
    });
    sent.recalled = true;
  }

  /** Somewhere up to the message that was just sent. */
  async #read(person: Person, newest: number): Promise<void> {
    const asked = newest - this.#random.below(10);
    const held = await this.#asked(() => person.markRead(this.conversationId, Math.max(1, asked)));
    this.#marks.set(person.id, held);
  }

  async #asked<T>(call: () => Promise<T>): Promise<T> {
    const endsAt = performance.now() + ASKED_FOR_MS;
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (performance.now() > endsAt) throw error;
        this.failures += 1;
        await pause(RETRY_PAUSE_MS);
      }
    }
  }
}
