/** Commands in the form that Redis reads, put together in one piece of bytes: one write for a round. */
import type { ConversationSeq } from '@qim/proto';

/** `*COUNT`, and the words that always come first or last: encoded once for all rounds. */
export function encodedWords(words: readonly string[], count?: number): Buffer {
  return Buffer.from(
    `${count === undefined ? '' : `*${count}\r\n`}${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`,
  );
}

/** A whole command of any text; its UTF-8 is what is sent. */
export function encodedCommand(args: readonly string[]): Buffer {
  return encodedWords(args, args.length);
}

const TWO_8 = 256;
const MEMBER_BYTES = 8;
const OPEN = 0x28;
const CR = 13;
const LF = 10;
const DOLLAR = 36;
const STAR = 42;
const ZERO = 48;
/** Longer ones are written faster by the library. */
const SHORT_CHARS_MAX = 16;
/** Of a sequence, a length or a count, with what stands around it. */
const NUMBER_BYTES = 24;

/** Of one round. */
export class WireRequest {
  commands = 0;
  #bytes: Buffer;
  #length = 0;

  /** `bytes`: how many it will take, about. */
  constructor(bytes: number) {
    this.#bytes = Buffer.allocUnsafe(bytes);
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** From `encodedWords`. */
  words(words: Buffer): void {
    this.#room(words.length);
    this.#bytes.set(words, this.#length);
    this.#length += words.length;
  }

  /** Of one that has so many arguments. */
  command(args: number): void {
    this.#room(NUMBER_BYTES);
    this.#head(STAR, args);
    this.commands += 1;
  }

  /** Text that has one byte for each character, as keys have. */
  ascii(text: string): void {
    this.#room(NUMBER_BYTES + text.length);
    this.#head(DOLLAR, text.length);
    if (text.length > SHORT_CHARS_MAX) this.#bytes.write(text, this.#length, 'latin1');
    else for (let i = 0; i < text.length; i += 1) this.#bytes[this.#length + i] = text.charCodeAt(i);
    this.#length += text.length;
    this.#line();
  }

  /** A sequence in decimal text. */
  number(seq: ConversationSeq): void {
    this.ascii(String(seq));
  }

  /** The bound of a range: past this history member. */
  after(seq: ConversationSeq): void {
    this.#room(NUMBER_BYTES + MEMBER_BYTES);
    this.#head(DOLLAR, 1 + MEMBER_BYTES);
    this.#bytes[this.#length] = OPEN;
    for (let i = MEMBER_BYTES, rest: number = seq; i > 0; i -= 1, rest = Math.floor(rest / TWO_8)) {
      this.#bytes[this.#length + i] = rest % TWO_8;
    }
    this.#length += 1 + MEMBER_BYTES;
    this.#line();
  }

  #head(kind: number, count: number): void {
    const bytes = this.#bytes;
    let at = this.#length;
    bytes[at++] = kind;
    if (count >= 100) bytes[at++] = ZERO + Math.floor(count / 100);
    if (count >= 10) bytes[at++] = ZERO + (Math.floor(count / 10) % 10);
    bytes[at++] = ZERO + (count % 10);
    this.#length = at;
    this.#line();
  }

  #line(): void {
    this.#bytes[this.#length] = CR;
    this.#bytes[this.#length + 1] = LF;
    this.#length += 2;
  }

  #room(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const longer = Buffer.allocUnsafe(2 * this.#bytes.length + bytes);
    this.#bytes.copy(longer, 0, 0, this.#length);
    this.#bytes = longer;
  }
}
