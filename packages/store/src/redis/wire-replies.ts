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

  /** For so many replies, which begin at `at`. */
  begin(replies: number, at = 0): void {
    this.#pending = replies;
    this.#at = at;
    this.marked = 0;
  }

  /** Where the replies end, once they are whole. */
  get end(): number {
    return this.#at;
  }

  /** Goes on over [0, used) of `bytes`, of which a part was seen before. */
  scan(bytes: Uint8Array, used: number): ScanState {
    let at = this.#at;
    let pending = this.#pending;
    let state: ScanState = 'whole';
    while (pending > 0) {
      const kind = bytes[at];
      if (kind === MINUS) {
        const end = bytes.subarray(0, used).indexOf(LF, at);
        if (end < 0) {
          state = used - at > ERROR_BYTES_MAX ? 'unexpected' : 'more';
          break;
        }
        this.#mark(ERROR, 0);
        pending -= 1;
        at = end + 1;
        continue;
      }
      const after = this.#line(bytes, at + 1, used);
      const count = this.#number;
      if (after <= 0 || (kind !== DOLLAR && kind !== STAR) || (kind === STAR && count < 0)) {
        state = after === 0 ? 'more' : 'unexpected';
        break;
      }
      const next = kind === STAR || count < 0 ? after : after + count + LINE_END;
      if (next > used) {
        state = 'more';
        break;
      }
      if (kind === STAR) this.#mark(ARRAY, count);
      else if (count < 0) this.#mark(NIL, 0);
      else this.#mark(after, count);
      pending += kind === STAR ? count - 1 : -1;
      at = next;
    }
    this.#at = at;
    this.#pending = pending;
    return state;
  }

  /** Reads the number of a line into `#number`. What follows the line; 0: it is not all there; -1: it is no number. */
  #line(bytes: Uint8Array, start: number, used: number): number {
    const digitsEnd = Math.min(used, start + DIGITS_MAX + 1);
    let at = start;
    const negative = bytes[at] === MINUS;
    if (negative) at += 1;
    let value = 0;
    for (; at < digitsEnd; at += 1) {
      const digit = (bytes[at] ?? 0) - ZERO;
      if (digit >= 0 && digit <= 9) {
        value = value * 10 + digit;
        continue;
      }
      if (bytes[at] !== CR) return -1;
      this.#number = negative ? -value : value;
      return at + 1 < used ? at + LINE_END : 0;
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

const NO_BYTES = Buffer.alloc(0);
const NO_MARKS = new Int32Array(0);

/** A reply of another kind than the one that was read for. */
export class UnexpectedReply extends Error {
  override readonly name = 'UnexpectedReply';
}

/** Reads the values of whole replies one after the other. Valid until its reader returns: the bytes are used again. */
export class Replies {
  bytes: Buffer = NO_BYTES;
  #marks = NO_MARKS;
  #end = 0;
  #at = 0;
  /** Of the value that was read last. */
  start = 0;
  length = 0;

  /** The same reader, before the first of the values that were found. */
  of(bytes: Buffer, { marks, marked }: ReplyScanner): this {
    this.bytes = bytes;
    this.#marks = marks;
    this.#end = marked;
    this.#at = 0;
    return this;
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
    return this.value() ? this.asText() : undefined;
  }

  /** The same, of the value that was read last. */
  asText(): string {
    return this.length === 0 ? '' : this.bytes.toString('utf8', this.start, this.start + this.length);
  }

  /** The value that was read last is these bytes. */
  is(expected: Uint8Array): boolean {
    const { bytes, start, length } = this;
    if (length !== expected.length) return false;
    for (let i = 0; i < length; i += 1) if (bytes[start + i] !== expected[i]) return false;
    return true;
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
