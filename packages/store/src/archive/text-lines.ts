/** A stream of bytes as lines, each with its end; what is held is one line and one piece of the stream. */
import { ArchiveError } from './errors.js';

export interface TextLine {
  /** With the line end. */
  readonly bytes: Buffer;
  /** From 1. */
  readonly number: number;
  /** Bytes of the stream up to and with its end. */
  readonly endsAt: number;
  /** False: the stream ended before the line did. */
  readonly whole: boolean;
}

const LINE_END = 0x0a;

/** @throws ArchiveError ArchiveDamaged at a line of more than `bytesMax` */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<TextLine, undefined> {
  let kept: Buffer[] = [];
  let [length, number, endsAt] = [0, 1, 0];
  const line = (whole: boolean): TextLine => {
    const joined = Buffer.concat(kept);
    endsAt += joined.length;
    kept = [];
    length = 0;
    number += 1;
    return { bytes: joined, number: number - 1, endsAt, whole };
  };
  for await (const given of bytes) {
    const piece = Buffer.from(given.buffer, given.byteOffset, given.length);
    for (let from = 0; from < piece.length; ) {
      const at = piece.indexOf(LINE_END, from);
      const rest = piece.subarray(from, at < 0 ? piece.length : at + 1);
      kept.push(rest);
      length += rest.length;
      if (length > bytesMax) throw new ArchiveError('ArchiveDamaged', `longer than ${bytesMax} bytes`, number);
      if (at >= 0) yield line(true);
      from += rest.length;
    }
  }
  if (kept.length > 0) yield line(false);
  return undefined;
}
