import { describe, expect, test } from 'vitest';
import { xxh32 } from '../src/message/xxh32.js';

/** The sanity buffer of the reference implementation: bytes of a 32-bit generator that starts at PRIME32 and squares by it. */
function sanityBuffer(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let value = 2654435761n;
  const prime = 11400714785074694797n;
  for (let i = 0; i < length; i += 1) {
    bytes[i] = Number(value >> 56n);
    value = (value * prime) & 0xffff_ffff_ffff_ffffn;
  }
  return bytes;
}

function hash(bytes: Uint8Array, seed: number): number {
  return xxh32(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length, seed);
}

const utf8 = new TextEncoder();

describe('xxh32', () => {
  test.each([
    ['', 0, 0x02cc5d05],
    ['a', 0, 0x550d7456],
    ['abc', 0, 0x32d153ff],
    ['Nobody inspects the spammish repetition', 0, 0xe2293b2f],
  ])('has the published hash of %j with seed %i', (text, seed, expected) => {
    expect(hash(utf8.encode(text), seed)).toBe(expected);
  });

  test.each([
    [0, 0, 0x02cc5d05],
    [0, 0x9e3779b1, 0x36b78ae7],
    [1, 0, 0xcf65b03e],
    [1, 0x9e3779b1, 0xb4545aa4],
    [14, 0, 0x1208e7e2],
    [14, 0x9e3779b1, 0x6af1d1fe],
    [222, 0, 0x5bd11dbd],
    [222, 0x9e3779b1, 0x58803c5f],
  ])('has the reference hash of the first %i sanity bytes with seed %i', (length, seed, expected) => {
    expect(hash(sanityBuffer(length), seed)).toBe(expected);
  });

  test('hashes a part of a view, wherever it lies', () => {
    const bytes = sanityBuffer(222);
    const shifted = new Uint8Array(300);
    shifted.set(bytes, 13);
    const view = new DataView(shifted.buffer);
    expect(xxh32(view, 13, 13 + 222, 0)).toBe(0x5bd11dbd);
  });
});
