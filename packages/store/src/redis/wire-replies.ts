/**
 * Replies of Redis (RESP 2) found in place: one pass over the bytes notes where each value lies, and nothing is copied.
 *
 * Only what reads of a page are answered with is understood: bulk strings, nil, arrays of them, and errors, which whoever
 * reads them takes for unexpected. With anything else the place in the stream is lost.
 */
import { SEQ_MAX, WIRE_MARKS } from '@qim/proto';

const CR = 13;
const STAR = 42;
const DOLLAR = 36;
const MINUS = 45;
const LF = 10;
const ZERO = 48;
/** A length or a count never has more digits. */
const DIGITS_MAX = 10;
const LINE_END = 2;
const DECIMAL_DIGITS_MAX = 16;
const ERROR_BYTES_MAX = 4096;

/** In place of a start. */
const NIL = -1;
const ARRAY = -2;
const ERROR = -3;

export type ScanState = 'more' | 'whole' | 'unexpected';

/** Two numbers for each value: where it starts and how long it is; or NIL; or ERROR; or ARRAY and how many values follow. */
export class ReplyScanner {
  marks = new Int32Array(WIRE_MARKS);
  /** Numbers in `marks`. */
  marked = 0;
  /** Values that are still to come. */
  #pending = 0;
  /** Where the next value begins. */
  #at = 0;
  #number = 0;

  /** For a new round of so many replies, which begin at 0. */
  begin(replies: number): void {
    this.#pending = replies;
    this.#at = 0;
    this.marked = 0;
  }

  /** Where the round ends, once it is whole. */
  get end(): number {
    return this.#at;
  }

  /** Goes on over [0, used) of `bytes`, of which a part was seen before. */
  scan(bytes: Uint8Array, used: number): ScanState {
    while (this.#pending > 0) {
      const at = this.#at;
      const kind = bytes[at];
      if (kind === MINUS) {
        const end = bytes.subarray(0, used).indexOf(LF, at);
        if (end < 0) return used - at > ERROR_BYTES_MAX ? 'unexpected' : 'more';
        this.#mark(ERROR, 0);
        this.#pending -= 1;
        this.#at = end + 1;
        continue;
      }
      const after = this.#line(bytes, at + 1, used);
      if (after === 0) return 'more';
      if (after < 0 || (kind !== DOLLAR && kind !== STAR)) return 'unexpected';
      const count = this.#number;
      if (kind === STAR) {
        if (count < 0) return 'unexpected';
        this.#mark(ARRAY, count);
        this.#pending += count - 1;
        this.#at = after;
      } else if (count < 0) {
        this.#mark(NIL, 0);
        this.#pending -= 1;
        this.#at = after;
      } else {
        const next = after + count + LINE_END;
        if (next > used) return 'more';
        this.#mark(after, count);
        this.#pending -= 1;
        this.#at = next;
      }
    }
    return 'whole';
  }

  /** Reads the number of a line into `#number`. What follows the line; 0: it is not all there; -1: it is no number. */
  #line(bytes: Uint8Array, start: number, used: number): number {
    let at = start;
    const negative = bytes[at] === MINUS;
    if (negative) at += 1;
    let value = 0;
    for (; at < used && at - start <= DIGITS_MAX; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === CR) {
        this.#number = negative ? -value : value;
        return at + 1 < used ? at + LINE_END : 0;
      }
      const digit = byte - ZERO;
      if (digit < 0 || digit > 9) return -1;
      value = value * 10 + digit;
    }
    return at < used ? -1 : 0;
  }

  #mark(start: number, length: number): void {
    if (this.marked + 2 > this.marks.length) {
      const longer = new Int32Array(this.marks.length * 2);
      longer.set(this.marks);
      this.marks = longer;
    }
    this.marks[this.marked] = start;
    this.marks[this.marked + 1] = length;
    this.marked += 2;
  }
}

/** A reply of another kind than the one that was read for. */
export class UnexpectedReply extends Error {
  override readonly name = 'UnexpectedReply';
}

/** Reads the values of a whole round one after the other. Valid until its reader returns: the bytes are used again. */
export class Replies {
  readonly bytes: Buffer;
  readonly #marks: Int32Array;
  readonly #end: number;
  #at = 0;
  /** Of the value that was read last. */
  start = 0;
  length = 0;

  constructor(bytes: Buffer, { marks, marked }: ReplyScanner) {
    this.bytes = bytes;
    this.#marks = marks;
    this.#end = marked;
  }

  /** How many values follow. @throws UnexpectedReply when no array is next, as the others do */
  array(): number {
    this.#take();
    if (this.start !== ARRAY) throw new UnexpectedReply('no array');
    return this.length;
  }

  /** Goes to the next value; false: nil. */
  value(): boolean {
    this.#take();
    if (this.start < NIL) throw new UnexpectedReply('an array or an error');
    return this.start !== NIL;
  }

  /** UTF-8; undefined: nil. */
  text(): string | undefined {
    return this.value() ? this.bytes.toString('utf8', this.start, this.start + this.length) : undefined;
  }

  /** Of decimal text as parseDecimal takes it; what is none is unexpected. */
  decimal(): number {
    if (!this.value()) throw new UnexpectedReply('no number');
    return this.asDecimal();
  }

  /** The same, of the value that was read last. */
  asDecimal(): number {
    if (this.length === 0 || this.length > DECIMAL_DIGITS_MAX) throw new UnexpectedReply('no number');
    const { bytes, start, length } = this;
    let value = 0;
    for (let at = start; at < start + length; at += 1) {
      const digit = (bytes[at] ?? 0) - ZERO;
      if (digit < 0 || digit > 9) throw new UnexpectedReply('no number');
      value = value * 10 + digit;
    }
    if ((bytes[start] === ZERO && length > 1) || value > SEQ_MAX) throw new UnexpectedReply('no number');
    return value;
  }

  /** All were read. @throws UnexpectedReply */
  done(): void {
    if (this.#at !== this.#end) throw new UnexpectedReply('more than was asked for');
  }

  /** Of the next value, for `valueAt`. */
  get position(): number {
    return this.#at;
  }

  /** Goes over `count` values that are no arrays. */
  skip(count: number): void {
    this.#at += 2 * count;
    if (this.#at > this.#end) throw new UnexpectedReply('fewer than were asked for');
  }

  /** The same as `value`, of one that was skipped. */
  valueAt(position: number): boolean {
    this.start = this.#marks[position] ?? NIL;
    this.length = this.#marks[position + 1] ?? 0;
    if (this.start < NIL) throw new UnexpectedReply('an array or an error');
    return this.start !== NIL;
  }

  #take(): void {
    if (this.#at >= this.#end) throw new UnexpectedReply('fewer than were asked for');
    this.start = this.#marks[this.#at] ?? NIL;
    this.length = this.#marks[this.#at + 1] ?? 0;
    this.#at += 2;
  }
}
