/** Reading and writing of the stored forms' parts. Numbers are big-endian; a u64 is a safe integer or malformed. */
import { assert, CONVERSATION_ID_CHARS_MAX, type ConversationId, type ConversationSeq, SEQ_MAX } from '@qim/proto';

/** The bytes are not what they should be. Never leaves the decoders: they turn it into a CorruptReason. */
export class Malformed extends Error {
  override readonly name = 'Malformed';
}

export const utf8 = new TextEncoder();
// A byte order mark is text like any other here.
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const TWO_32 = 2 ** 32;

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** -1 when it is past 2^53-1. */
export function getSafeU64(view: DataView, at: number): number {
  const value = view.getUint32(at) * TWO_32 + view.getUint32(at + 4);
  return value <= SEQ_MAX ? value : -1;
}

export function setU64(view: DataView, at: number, value: number): void {
  view.setUint32(at, Math.floor(value / TWO_32));
  view.setUint32(at + 4, value % TWO_32);
}

/** The 8 bytes of a sequence as an index member: byte order is number order. */
export function sequenceToBytes(seq: ConversationSeq): Uint8Array {
  const bytes = new Uint8Array(8);
  setU64(viewOf(bytes), 0, seq);
  return bytes;
}

/** Of [start, start + length) of `bytes`. Undefined when it is no member: not 8 bytes, 0, or past 2^53-1. */
export function sequenceFromBytes(bytes: Uint8Array, start = 0, length: number = bytes.length): ConversationSeq | undefined {
  if (length !== 8) return undefined;
  // Byte by byte: a DataView for each of up to 200 members costs more than the sum.
  const value = u32At(bytes, start) * TWO_32 + u32At(bytes, start + 4);
  return value >= 1 && value <= SEQ_MAX ? (value as ConversationSeq) : undefined;
}

function u32At(bytes: Uint8Array, at: number): number {
  return (((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)) >>> 0;
}

/** Writes the 16 bytes of a UUID in lower-case text. */
export function setUuid(bytes: Uint8Array, at: number, uuid: string): void {
  let digits = 0;
  for (let i = 0; i < uuid.length; i += 1) {
    const code = uuid.charCodeAt(i);
    if (code === DASH) continue;
    const digit = code <= NINE ? code - ZERO : code - LOWER_A + 10;
    const place = at + (digits >> 1);
    bytes[place] = digits % 2 === 0 ? digit << 4 : (bytes[place] ?? 0) | digit;
    digits += 1;
  }
  assert(digits === 32, 'a UUID has 32 hexadecimal digits');
}

const DASH = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const LOWER_A = 0x61;
const DIGITS = utf8.encode('0123456789abcdef');
const UUID_CHARS = 36;
/** The text that is being made; its dashes stay. */
const UUID_TEXT = Buffer.alloc(UUID_CHARS, '-', 'latin1');
/** Where the two digits of each byte stand in it. */
const UUID_PLACES = Uint8Array.from([0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]);

/** The lower-case text of the 16 bytes at `at`. */
export function getUuid(bytes: Uint8Array, at: number): string {
  for (let i = 0; i < UUID_PLACES.length; i += 1) {
    const byte = bytes[at + i] ?? 0;
    const place = UUID_PLACES[i] ?? 0;
    UUID_TEXT[place] = DIGITS[byte >> 4] ?? 0;
    UUID_TEXT[place + 1] = DIGITS[byte & 0xf] ?? 0;
  }
  return UUID_TEXT.toString('latin1');
}

/** Longer ones are decoded faster by the library. */
const ASCII_CHARS_MAX = 256;

/** @throws Malformed when [at, at + length) is not UTF-8 */
export function getText(bytes: Uint8Array, at: number, length: number): string {
  if (length <= ASCII_CHARS_MAX && isAscii(bytes, at, at + length)) {
    const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    return buffer.toString('latin1', at, at + length);
  }
  try {
    return strictUtf8.decode(bytes.subarray(at, at + length));
  } catch (error) {
    throw new Malformed('text is not UTF-8', { cause: error });
  }
}

function isAscii(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i += 1) if ((bytes[i] ?? 0x80) >= 0x80) return false;
  return true;
}

/** Of `tenant:` in a key. */
export const TENANT_BYTES_MAX = 11;

/** Writes text of ASCII alone, a byte for each character: for so few a call of the library takes longer. @returns where it ends */
export function setAscii(bytes: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i += 1) bytes[at + i] = text.charCodeAt(i);
  return at + text.length;
}

/** An id of a conversation as bytes: all of it is ASCII. For many ids set one again and again. */
export class IdBytes {
  readonly bytes = new Uint8Array(CONVERSATION_ID_CHARS_MAX);
  length = 0;

  set(id: ConversationId): this {
    this.length = setAscii(this.bytes, 0, id);
    return this;
  }
}

const WRITER_BYTES = 512;
/** Up to here room for the longest UTF-8 is taken, and what it did not need is given back. */
const TEXT_CHARS_UNCOUNTED_MAX = 256;
const UTF8_BYTES_PER_CHAR_MAX = 3;

/** Collects parts of a length that is not known beforehand. */
export class ByteWriter {
  // From the pool: nothing of what lies there is ever read.
  #bytes = Buffer.allocUnsafe(WRITER_BYTES);
  #view = viewOf(this.#bytes);
  #length = 0;

  /** Where the next `count` bytes go; there is room for them. */
  #take(count: number): number {
    const at = this.#length;
    this.#length = at + count;
    if (this.#length > this.#bytes.length) {
      const longer = Buffer.allocUnsafe(Math.max(this.#length, 2 * this.#bytes.length));
      longer.set(this.#bytes);
      this.#bytes = longer;
      this.#view = viewOf(longer);
    }
    return at;
  }

  bytes(bytes: Uint8Array): this {
    const at = this.#take(bytes.length);
    this.#bytes.set(bytes, at);
    return this;
  }

  u8(value: number): this {
    assert(Number.isInteger(value) && value >= 0 && value <= 0xff, 'a u8 fits its byte');
    const at = this.#take(1);
    this.#bytes[at] = value;
    return this;
  }

  u32(value: number): this {
    const at = this.#take(4);
    this.#view.setUint32(at, value);
    return this;
  }

  u64(value: number): this {
    const at = this.#take(8);
    setU64(this.#view, at, value);
    return this;
  }

  uuid(uuid: string): this {
    const at = this.#take(16);
    setUuid(this.#bytes, at, uuid);
    return this;
  }

  /** One length byte and the UTF-8. */
  shortText(text: string): this {
    const length = this.#textAfter(1, text);
    assert(length <= 0xff, 'a u8 fits its byte');
    this.#bytes[this.#length - length - 1] = length;
    return this;
  }

  /** Four length bytes and the UTF-8. */
  longText(text: string): this {
    const length = this.#textAfter(4, text);
    this.#view.setUint32(this.#length - length - 4, length);
    return this;
  }

  /** Leaves `head` bytes for the length, and writes the UTF-8. @returns the length */
  #textAfter(head: number, text: string): number {
    const room = text.length <= TEXT_CHARS_UNCOUNTED_MAX ? UTF8_BYTES_PER_CHAR_MAX * text.length : Buffer.byteLength(text);
    const at = this.#take(head + room) + head;
    const length = this.#bytes.write(text, at);
    this.#length = at + length;
    return length;
  }

  /** Four length bytes and the bytes. */
  longBytes(bytes: Uint8Array): this {
    return this.u32(bytes.length).bytes(bytes);
  }

  /** Empty again; what `written` gave is no more. */
  restart(): this {
    this.#length = 0;
    if (this.#bytes.length <= WRITER_BYTES) return this;
    this.#bytes = Buffer.allocUnsafe(WRITER_BYTES);
    this.#view = viewOf(this.#bytes);
    return this;
  }

  /** Where they lie: for who takes them before anything more is written. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  result(): Uint8Array {
    return new Uint8Array(this.#bytes.subarray(0, this.#length));
  }
}

/** Reads the parts one after the other; each read past the end is Malformed. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at: number;
  readonly #end: number;

  /** Reads [start, end) of `bytes`. */
  constructor(bytes: Uint8Array, start = 0, end: number = bytes.length) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
    this.#at = start;
    this.#end = end;
  }

  #take(length: number): number {
    const at = this.#at;
    if (length > this.#end - at) throw new Malformed('runs past the end');
    this.#at = at + length;
    return at;
  }

  u8(): number {
    return this.#view.getUint8(this.#take(1));
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4));
  }

  u64(): number {
    const value = getSafeU64(this.#view, this.#take(8));
    if (value < 0) throw new Malformed('past 2^53-1');
    return value;
  }

  uuid(): string {
    return getUuid(this.#bytes, this.#take(16));
  }

  text(length: number): string {
    return getText(this.#bytes, this.#take(length), length);
  }

  shortText(): string {
    return this.text(this.u8());
  }

  /** A copy: what it came from may be a shared buffer. */
  longBytes(): Uint8Array {
    const length = this.u32();
    const at = this.#take(length);
    return new Uint8Array(this.#bytes.subarray(at, at + length));
  }

  longText(): string {
    return this.text(this.u32());
  }

  /** @throws Malformed when something is left */
  end(): void {
    if (this.#at !== this.#end) throw new Malformed('longer than its parts');
  }
}
