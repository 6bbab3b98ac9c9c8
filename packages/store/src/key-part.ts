/** Ids as parts of keys, for all backends. */

const UNSAFE = /[^A-Za-z0-9_-]/gu;
const SAFE = /^[A-Za-z0-9_-]*$/;

/**
 * The id percent-encoded (upper-case hexadecimal of its UTF-8) except `A-Z a-z 0-9 _ -`, so at most three times its
 * bytes. Parts joined by any other character cannot be confused: no two lists of ids make one key.
 */
export function keyPart(id: string): string {
  // Nearly all ids need nothing.
  if (SAFE.test(id)) return id;
  return id.replace(UNSAFE, (char) =>
    Array.from(Buffer.from(char), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
}
