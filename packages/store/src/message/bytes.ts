/** Reading and writing of the stored forms' parts. Numbers are big-endian; a u64 is a safe integer or malformed. */
import { assert, type ConversationSeq, SEQ_MAX } from '@qim/proto';

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

/** Undefined when it is no member: not 8 bytes, 0, or past 2^53-1. */
export function sequenceFromBytes(bytes: Uint8Array): ConversationSeq | undefined {
  if (bytes.length !== 8) return undefined;
  // Byte by byte: a DataView for each of up to 200 members costs more than the sum.
  let value = 0;
  for (let i = 0; i < 8; i += 1) value = value * 256 + (bytes[i] ?? 0);
  return value >= 1 && value <= SEQ_MAX ? (value as ConversationSeq) : undefined;
}

/** Writes the 16 bytes of a UUID in lower-case text. */
export function setUuid(bytes: Uint8Array, at: number, uuid: string): void {
  const hex = uuid.replaceAll('-', '');
  assert(hex.length === 32, 'a UUID has 32 hexadecimal digits');
  for (let i = 0; i < 16; i += 1) bytes[at + i] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
}

/** The lower-case text of the 16 bytes at `at`. */
export function getUuid(bytes: Uint8Array, at: number): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset + at, 16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** @throws Malformed when [at, at + length) is not UTF-8 */
export function getText(bytes: Uint8Array, at: number, length: number): string {
  try {
    return strictUtf8.decode(bytes.subarray(at, at + length));
  } catch (error) {
    throw new Malformed('text is not UTF-8', { cause: error });
  }
}

/** Collects parts of a length that is not known beforehand. */
export class ByteWriter {
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  bytes(bytes: Uint8Array): this {
    this.#parts.push(bytes);
    this.#length += bytes.length;
    return this;
  }

  u8(value: number): this {
    assert(Number.isInteger(value) && value >= 0 && value <= 0xff, 'a u8 fits its byte');
    return this.bytes(Uint8Array.of(value));
  }

  u32(value: number): this {
    const bytes = new Uint8Array(4);
    viewOf(bytes).setUint32(0, value);
    return this.bytes(bytes);
  }

  u64(value: number): this {
    const bytes = new Uint8Array(8);
    setU64(viewOf(bytes), 0, value);
    return this.bytes(bytes);
  }

  uuid(uuid: string): this {
    const bytes = new Uint8Array(16);
    setUuid(bytes, 0, uuid);
    return this.bytes(bytes);
  }

  /** One length byte and the UTF-8. */
  shortText(text: string): this {
    const bytes = utf8.encode(text);
    return this.u8(bytes.length).bytes(bytes);
  }

  /** Four length bytes and the bytes. */
  longBytes(bytes: Uint8Array): this {
    return this.u32(bytes.length).bytes(bytes);
  }

  result(): Uint8Array {
    const all = new Uint8Array(this.#length);
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
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
