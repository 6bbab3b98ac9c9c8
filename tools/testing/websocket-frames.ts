/** Where the frames of one direction of a WebSocket connection end. The HTTP head before them is no frame. */

const HEAD_END = '\r\n\r\n';

export class WebSocketFrames {
  #state: 'new' | 'head' | 'frames' | 'other' = 'new';
  /** What came of the head, or of the header of a frame. */
  #held = Buffer.alloc(0);
  /** Bytes of the present frame that have not come. */
  #bodyLeft = 0;

  /** Offsets within the chunk just past each frame that ends in it, ascending; none on what does not begin as HTTP (GET, HTTP/1.1). */
  endsIn(chunk: Buffer): readonly number[] {
    if (this.#state === 'new') this.#state = /^[GH]/.test(chunk.toString('latin1', 0, 1)) ? 'head' : 'other';
    if (this.#state === 'other') return [];
    const ends: number[] = [];
    let at = this.#state === 'head' ? this.#skipHead(chunk) : 0;
    while (at < chunk.length) {
      if (this.#bodyLeft === 0) {
        // Byte by byte: a header is at most 14 of them.
        this.#held = Buffer.concat([this.#held, chunk.subarray(at, at + 1)]);
        at += 1;
        if (!this.#headerIsWhole() || this.#bodyLeft > 0) continue;
      } else {
        const taken = Math.min(this.#bodyLeft, chunk.length - at);
        this.#bodyLeft -= taken;
        at += taken;
        if (this.#bodyLeft > 0) continue;
      }
      ends.push(at);
    }
    return ends;
  }

  /** Where the frames begin; the chunk's length when they do not begin in it. */
  #skipHead(chunk: Buffer): number {
    const before = this.#held.length;
    this.#held = Buffer.concat([this.#held, chunk]);
    const end = this.#held.indexOf(HEAD_END);
    if (end < 0) return chunk.length;
    this.#held = Buffer.alloc(0);
    this.#state = 'frames';
    return end + HEAD_END.length - before;
  }

  #headerIsWhole(): boolean {
    const [, second] = this.#held;
    if (second === undefined) return false;
    const short = second & 0x7f;
    const lengthBytes = short === 127 ? 8 : short === 126 ? 2 : 0;
    const maskBytes = (second & 0x80) === 0 ? 0 : 4;
    if (this.#held.length < 2 + lengthBytes + maskBytes) return false;
    this.#bodyLeft = lengthBytes === 8 ? Number(this.#held.readBigUInt64BE(2)) : lengthBytes === 2 ? this.#held.readUInt16BE(2) : short;
    this.#held = Buffer.alloc(0);
    return true;
  }
}
