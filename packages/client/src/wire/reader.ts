/** Protobuf's wire form, inwards. Everything that is not well formed throws a RangeError. */
const UTF8 = new TextDecoder();
const VARINT_BYTES_MAX = 10;

export const WireType = { Varint: 0, Fixed64: 1, Bytes: 2, Fixed32: 5 } as const;

export class WireReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  tag(): { readonly field: number; readonly wireType: number } {
    const tag = Number(this.varint());
    return { field: Math.floor(tag / 8), wireType: tag % 8 };
  }

  /** 0..2^64-1. */
  varint(): bigint {
    // All but the largest need no more than numbers.
    let small = 0;
    let scale = 1;
    let large = 0n;
    for (let count = 0; count < VARINT_BYTES_MAX; count += 1) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw new RangeError('cut off');
      this.#at += 1;
      if (count < 7) {
        small += (byte & 0x7f) * scale;
        scale *= 0x80;
      } else large |= BigInt(byte & 0x7f) << BigInt(7 * count);
      if (byte < 0x80) return BigInt.asUintN(64, BigInt(small) | large);
    }
    throw new RangeError('a number that does not end');
  }

  /** A view: it lives as long as what it was read from. */
  bytes(): Uint8Array {
    const length = Number(this.varint());
    const from = this.#at;
    this.#skip(length);
    return this.#bytes.subarray(from, this.#at);
  }

  text(): string {
    return UTF8.decode(this.bytes());
  }

  /** A field that a newer server has. */
  skip(wireType: number): void {
    switch (wireType) {
      case WireType.Varint:
        this.varint();
        return;
      case WireType.Fixed64:
        this.#skip(8);
        return;
      case WireType.Bytes:
        this.bytes();
        return;
      case WireType.Fixed32:
        this.#skip(4);
        return;
      default:
        throw new RangeError(`wire type ${wireType}`);
    }
  }

  #skip(count: number): void {
    if (count > this.#bytes.length - this.#at) throw new RangeError('cut off');
    this.#at += count;
  }
}
