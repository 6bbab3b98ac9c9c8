/** Commands in the form that Redis reads, put together in one piece of bytes: one write for a round. */
import type { ConversationSeq } from '@qim/proto';
import type { PlaceBytes } from './place-bytes.js';

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
const COLON = 58;
const ZERO = 48;
/** Numbers below it are integers to the machine. */
const SMALL = 2 ** 30;
/** Of a sequence, a length or a count, with what stands around it. */
const NUMBER_BYTES = 24;

/** Of one round. */
export class WireRequest {
  /** How many commands each group has whose replies are read together. */
  readonly groups: number[] = [];
  commands = 0;
  #bytes: Buffer;
  #length = 0;

  /** `bytes`: what it is written into while there is room. */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** What it was written into. */
  get buffer(): Buffer {
    return this.#bytes;
  }

  /** The last `commands` of them are a group. */
  group(commands: number): void {
    this.groups.push(commands);
    this.commands += commands;
  }

  /** From `encodedWords`. */
  words(words: Uint8Array): void {
    this.#room(words.length);
    this.#copy(words, 0, words.length);
  }

  /** A command of so many arguments. */
  command(args: number): void {
    this.#room(NUMBER_BYTES);
    this.#head(STAR, args);
  }

  /** A key: its name, what follows it, and a number where the key has one. */
  key(name: Uint8Array, place: PlaceBytes, number?: number): void {
    const length = name.length + place.end - place.start;
    this.#room(2 * NUMBER_BYTES + length);
    this.#head(DOLLAR, number === undefined ? length : length + 1 + digitsOf(number));
    this.#copy(name, 0, name.length);
    this.#copy(place.bytes, place.start, place.end);
    if (number !== undefined) {
      this.#bytes[this.#length] = COLON;
      this.#length += 1;
      this.#digits(number);
    }
    this.#line();
  }

  /** A sequence in decimal text. */
  number(seq: number): void {
    this.#room(2 * NUMBER_BYTES);
    this.#head(DOLLAR, digitsOf(seq));
    this.#digits(seq);
    this.#line();
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

  /** [start, end) of `from`: so few bytes that a call of the library takes longer. */
  #copy(from: Uint8Array, start: number, end: number): void {
    const bytes = this.#bytes;
    let at = this.#length;
    for (let i = start; i < end; i += 1) bytes[at++] = from[i] ?? 0;
    this.#length = at;
  }

  #digits(number: number): void {
    const bytes = this.#bytes;
    const end = this.#length + digitsOf(number);
    let rest = number;
    let at = end;
    for (; rest >= SMALL; rest = Math.floor(rest / 10)) bytes[--at] = ZERO + (rest % 10);
    for (let small = rest | 0; at > this.#length; small = (small / 10) | 0) bytes[--at] = ZERO + (small % 10);
    this.#length = end;
  }

  #head(kind: number, count: number): void {
    this.#bytes[this.#length] = kind;
    this.#length += 1;
    this.#digits(count);
    this.#line();
  }

  #line(): void {
    this.#bytes[this.#length] = CR;
    this.#bytes[this.#length + 1] = LF;
    this.#length += 2;
  }

  #room(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const longer = Buffer.allocUnsafeSlow(2 * this.#bytes.length + bytes);
    this.#bytes.copy(longer, 0, 0, this.#length);
    this.#bytes = longer;
  }
}

/** Of a number from 0 in decimal text. */
function digitsOf(number: number): number {
  let digits = 1;
  for (let bound = 10; number >= bound; bound *= 10) digits += 1;
  return digits;
}
