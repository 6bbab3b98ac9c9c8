/**
 * XXH32, the 32-bit member of the xxHash family, in place over a DataView: no copy, no call out of JavaScript.
 *
 * Every change confined to one aligned 4-byte word changes the result (each step is a bijection of that word), so a
 * single flipped bit is always noticed; larger damage is missed once in 2^32.
 */
const PRIME_1 = 0x9e3779b1;
const PRIME_2 = 0x85ebca77;
const PRIME_3 = 0xc2b2ae3d;
const PRIME_4 = 0x27d4eb2f;
const PRIME_5 = 0x165667b1;

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

function round(lane: number, word: number): number {
  return Math.imul(rotate((lane + Math.imul(word, PRIME_2)) | 0, 13), PRIME_1);
}

/** Hash of the bytes [start, end) of `view`, 0..2^32-1. `seed` is taken modulo 2^32. */
export function xxh32(view: DataView, start: number, end: number, seed: number): number {
  const length = end - start;
  let at = start;
  let hash: number;
  if (length >= 16) {
    let a = (seed + PRIME_1 + PRIME_2) | 0;
    let b = (seed + PRIME_2) | 0;
    let c = seed | 0;
    let d = (seed - PRIME_1) | 0;
    for (const stripesEnd = end - 16; at <= stripesEnd; at += 16) {
      a = round(a, view.getInt32(at, true));
      b = round(b, view.getInt32(at + 4, true));
      c = round(c, view.getInt32(at + 8, true));
      d = round(d, view.getInt32(at + 12, true));
    }
    hash = (rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18)) | 0;
  } else {
    hash = (seed + PRIME_5) | 0;
  }
  hash = (hash + length) | 0;
  for (; at + 4 <= end; at += 4) {
    hash = Math.imul(rotate((hash + Math.imul(view.getInt32(at, true), PRIME_3)) | 0, 17), PRIME_4);
  }
  for (; at < end; at += 1) {
    hash = Math.imul(rotate((hash + Math.imul(view.getUint8(at), PRIME_5)) | 0, 11), PRIME_1);
  }
  hash = Math.imul(hash ^ (hash >>> 15), PRIME_2);
  hash = Math.imul(hash ^ (hash >>> 13), PRIME_3);
  return (hash ^ (hash >>> 16)) >>> 0;
}
