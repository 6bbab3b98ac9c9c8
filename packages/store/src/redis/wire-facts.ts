/** The facts of a conversation out of HGETALL: names and values are compared and read where they lie. */
import { FACT_FIELDS, factsFromValues, type StoredFacts } from '../message/facts.js';
import { type Replies, UnexpectedReply } from './wire-replies.js';

const NAMES = FACT_FIELDS.map((name) => Buffer.from(name, 'latin1'));
const FIELDS = NAMES.length;
const [KIND, TITLE, SETTINGS, PAIR] = [0, 1, 2, 3] as const;
const TEXTS = PAIR + 1;

/** Most texts of one kind are the same all over a page: what was made of the last one is made anew only for another one. */
export class LastText<T> {
  readonly #make: (text: string) => T;
  #bytes: Buffer | undefined;
  #made: T | undefined;

  constructor(make: (text: string) => T) {
    this.#make = make;
  }

  /** Of the value that was read last. */
  of(replies: Replies): T {
    if (this.#bytes === undefined || !replies.is(this.#bytes)) {
      this.#made = this.#make(replies.asText());
      this.#bytes = Buffer.from(replies.bytes.subarray(replies.start, replies.start + replies.length));
    }
    return this.#made as T;
  }
}

/** Of one page. */
export class WireFacts {
  readonly #numbers = new Array<number>(FIELDS - TEXTS).fill(0);
  readonly #settings = new LastText((text) => text);

  /** Undefined: absent. Facts that are no facts are the ordinary connection's to tell. @throws UnexpectedReply */
  read(replies: Replies): StoredFacts | undefined {
    const values = replies.array();
    if (values === 0) return undefined;
    if (values !== 2 * FIELDS) throw new UnexpectedReply('another number of fields');
    let [kind, title, settings, pair, found] = [0, '', '', '', 0];
    for (let i = 0; i < FIELDS; i += 1) {
      const field = fieldOf(replies, i);
      found |= 1 << field;
      if (!replies.value()) throw new UnexpectedReply('a field without a value');
      if (field >= TEXTS) this.#numbers[field - TEXTS] = replies.asDecimal();
      else if (field === KIND) kind = replies.asDecimal();
      else if (field === TITLE) title = replies.asText();
      else if (field === SETTINGS) settings = this.#settings.of(replies);
      else pair = replies.asText();
    }
    if (found !== (1 << FIELDS) - 1) throw new UnexpectedReply('a field is missing');
    const facts = factsFromValues({ kind, title, settings, pair, numbers: this.#numbers });
    if (typeof facts === 'string') throw new UnexpectedReply(facts);
    return facts;
  }
}

/** Which field's name comes next; most conversations have them in the order of `FACT_FIELDS`. */
function fieldOf(replies: Replies, likely: number): number {
  if (!replies.value()) throw new UnexpectedReply('a field without a name');
  if (replies.is(NAMES[likely] as Buffer)) return likely;
  const field = NAMES.findIndex((name) => replies.is(name));
  if (field < 0) throw new UnexpectedReply('another field');
  return field;
}
