/** What stands for somebody where there is no picture: letters on a colour, the same everywhere and at each visit. */

/** In the order of `--color-who-…` in styles.css; each is a fill for white letters, and a text colour of light and dark. */
const LOOKS = [
  { fill: 'bg-fill-0', text: 'text-who-0' },
  { fill: 'bg-fill-1', text: 'text-who-1' },
  { fill: 'bg-fill-2', text: 'text-who-2' },
  { fill: 'bg-fill-3', text: 'text-who-3' },
  { fill: 'bg-fill-4', text: 'text-who-4' },
  { fill: 'bg-fill-5', text: 'text-who-5' },
  { fill: 'bg-fill-6', text: 'text-who-6' },
  { fill: 'bg-fill-7', text: 'text-who-7' },
  { fill: 'bg-fill-8', text: 'text-who-8' },
  { fill: 'bg-fill-9', text: 'text-who-9' },
] as const;

/** By the id: a name may change. */
export function lookOf(id: string): { readonly fill: string; readonly text: string } {
  let hash = 0x811c9dc5;
  for (const letter of id) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  // The low bits of short ids are much alike.
  hash ^= hash >>> 15;
  return LOOKS[(hash >>> 0) % LOOKS.length] ?? LOOKS[0];
}

/** Of the first and the last word, at most two letters; '?' for an empty name. */
export function initialsOf(name: string): string {
  const words = name.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word));
  const chosen = words.length > 1 ? [words[0], words.at(-1)] : words;
  const letters = chosen.map((word) => Array.from(word?.replace(/^[^\p{L}\p{N}]+/u, '') ?? '')[0] ?? '');
  return letters.join('').toLocaleUpperCase() || (Array.from(name.trim())[0] ?? '?');
}

/** A profile's picture, if it is on the server that the page came from: nothing is ever fetched from elsewhere. */
export function pictureOf(avatarUrl: string | undefined, origin: string): string | undefined {
  if (avatarUrl === undefined || avatarUrl === '' || !URL.canParse(avatarUrl)) return undefined;
  return new URL(avatarUrl).origin === origin ? avatarUrl : undefined;
}
